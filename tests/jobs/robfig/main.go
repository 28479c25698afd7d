// What the CronJob controller's own library makes of schedules: the oracle behind ../robfig.tsv.
//
//	cut -f1,2 ../robfig.tsv | go run . > new.tsv
//
// Each line in is a schedule and a moment; each line out repeats them with the next six starts in UTC, "never" where there is no further
// one, or "invalid".
package main

import (
	"bufio"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/robfig/cron/v3"
)

func main() {
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		schedule, after, _ := strings.Cut(lines.Text(), "\t")
		fmt.Printf("%s\t%s\t%s\n", schedule, after, answer(schedule, after))
	}
}

func answer(text, after string) string {
	at, err := time.Parse(time.RFC3339, after)
	if err != nil {
		panic(err)
	}
	schedule, err := cron.ParseStandard(text)
	if err != nil {
		return "invalid"
	}
	var starts []string
	for len(starts) < 6 {
		if at = schedule.Next(at); at.IsZero() {
			return strings.Join(append(starts, "never"), " ")
		}
		starts = append(starts, at.UTC().Format(time.RFC3339))
	}
	return strings.Join(starts, " ")
}
