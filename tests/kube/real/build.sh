#!/bin/sh
# Builds a real kube-apiserver (Kubernetes 1.20.2) from Debian 12's own source package, which holds all of Kubernetes; about 4 minutes.
# usage: build.sh FILE. When FILE is there already it stays. Needs golang-go, etcd-server, jq, make, rsync, and 2 GB of room for the build.
set -eu
target=$1
[ ! -x "$target" ] || exit 0
sources=/etc/apt/sources.list.d/debian.sources
grep -q bookworm $sources 2>/dev/null || { echo "$0 needs Debian 12 and its $sources" >&2; exit 1; }
work=$(mktemp -d)
trap 'chmod -R u+w "$work"; rm -rf "$work"' EXIT

# a set-up of apt beside the machine's own, with sources switched on
mkdir -p "$work/apt/parts" "$work/apt/lists/partial" "$work/apt/cache/archives/partial" "$work/src"
sed 's/^Types: deb$/Types: deb-src/' $sources >"$work/apt/parts/debian.sources"
apt() {
    apt-get -q -o Dir::Etc::SourceList=/dev/null -o Dir::Etc::SourceParts="$work/apt/parts" -o Dir::State::Lists="$work/apt/lists" \
        -o Dir::Cache="$work/apt/cache" "$@" >&2
}
apt update
(cd "$work" && apt source --download-only kubernetes)
tar -xzf "$work"/kubernetes_*.orig.tar.gz -C "$work/src" --strip-components=1

# the build of that age expects the sources at their import path
mkdir -p "$work/go/src/k8s.io"
ln -s "$work/src" "$work/go/src/k8s.io/kubernetes"
cd "$work/go/src/k8s.io/kubernetes"
GOPATH=$work/go GOCACHE=$work/cache HOME=$work GOPROXY=off GO111MODULE=off CGO_ENABLED=0 \
    KUBE_GIT_VERSION=v1.20.2 KUBE_GIT_MAJOR=1 KUBE_GIT_MINOR=20 KUBE_GIT_COMMIT=debian KUBE_GIT_TREE_STATE=clean \
    make WHAT=cmd/kube-apiserver >&2
mkdir -p "$(dirname "$target")"
cp _output/bin/kube-apiserver "$target"
