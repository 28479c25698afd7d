"""The process that makes a PDF: a job as JSON on stdin; messages as one line of JSON, then the PDF, on stdout.

It imports WeasyPrint and little else, reads nothing but the shipped fonts, and ends with its memory.
"""

from __future__ import annotations

import base64
import gc
import io
import json
import logging
import os
import resource
import sys
from datetime import datetime
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import weasyprint
from weasyprint.urls import URLFetcher, URLFetcherResponse

_FONT_TYPES = {".ttf": "font/ttf"}
_DATA_PREFIXES = ("data:image/png;base64,", "data:image/svg+xml;base64,")
_LARGEST_DATA = 8 << 20
_PRINT_FLAG = 4
"""Annotation flag "Print", which PDF/A and PDF/UA want on every link (ISO 32000-1, table 165)."""

_UA_METADATA = b"""<rdf:Description rdf:about="" xmlns:pdfuaid="http://www.aiim.org/pdfua/ns/id/" pdfuaid:part="1"/>
<rdf:Description rdf:about="" xmlns:pdfaExtension="http://www.aiim.org/pdfa/ns/extension/"
 xmlns:pdfaSchema="http://www.aiim.org/pdfa/ns/schema#" xmlns:pdfaProperty="http://www.aiim.org/pdfa/ns/property#">
<pdfaExtension:schemas><rdf:Bag><rdf:li rdf:parseType="Resource">
<pdfaSchema:namespaceURI>http://www.aiim.org/pdfua/ns/id/</pdfaSchema:namespaceURI><pdfaSchema:prefix>pdfuaid</pdfaSchema:prefix>
<pdfaSchema:schema>PDF/UA identification schema</pdfaSchema:schema>
<pdfaSchema:property><rdf:Seq><rdf:li rdf:parseType="Resource">
<pdfaProperty:category>internal</pdfaProperty:category><pdfaProperty:description>Part of ISO 14289</pdfaProperty:description>
<pdfaProperty:name>part</pdfaProperty:name><pdfaProperty:valueType>Integer</pdfaProperty:valueType>
</rdf:li></rdf:Seq></pdfaSchema:property>
</rdf:li></rdf:Bag></pdfaExtension:schemas></rdf:Description>
"""
"""Says that the file also follows PDF/UA, in the form that PDF/A-3 demands for a schema it does not know (ISO 19005-3, 6.6.2.3)."""

_END_OF_METADATA = b"</rdf:RDF>"


class SealedFetcher(URLFetcher):  # type: ignore[misc]  # WeasyPrint has no types
    """Gives the shipped fonts under asset:FILE and images that are in the page itself; refuses everything else."""

    def __init__(self, fonts: Path) -> None:
        super().__init__(timeout=1, allowed_protocols=("data",), allow_redirects=False)
        # a closed list: no path is ever put together from what a page says
        self._assets = {path.name: path for path in fonts.iterdir() if path.suffix in _FONT_TYPES}

    def fetch(self, url: str, headers: dict[str, str] | None = None) -> URLFetcherResponse:
        """Answer one request; raise ValueError for what is refused."""
        scheme = url.partition(":")[0].lower()
        asset = self._assets.get(unquote(urlsplit(url).path)) if scheme == "asset" else None
        if asset:
            return URLFetcherResponse(url, asset.read_bytes(), {"Content-Type": _FONT_TYPES[asset.suffix]})
        if url.startswith(_DATA_PREFIXES) and len(url) <= _LARGEST_DATA:
            return super().fetch(url, headers)
        raise ValueError(f"refused: {url[:120]!r}")


class _Listener(logging.Handler):
    """Keeps what WeasyPrint warns of."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.messages: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.messages.append(record.getMessage())


def make(job: dict[str, Any]) -> tuple[bytes, list[str]]:
    """Make the PDF; give it with what WeasyPrint warned of."""
    listener = _Listener()
    logging.getLogger("weasyprint").addHandler(listener)
    made_at = datetime.fromisoformat(job["made_at"])
    attachments = [
        weasyprint.Attachment(
            string=base64.b64decode(attachment["data"]),
            name=attachment["name"],
            description=f"All rows of {attachment['name'].removesuffix('.csv')}",
            relationship="Data",
            created=made_at,
            modified=made_at,
        )
        for attachment in job["attachments"]
    ]
    gc.disable()  # a third less time; the process ends soon enough
    out = io.BytesIO()
    page = weasyprint.HTML(string=job["page"], url_fetcher=SealedFetcher(Path(job["fonts"])))
    page.write_pdf(out, finisher=_finish, pdf_variant="pdf/a-3a", attachments=attachments)
    return out.getvalue(), listener.messages


def _finish(_document: Any, pdf: Any) -> None:
    """Mend what WeasyPrint 70 leaves out: the scope of table heads, the print flag of links, attachments listed once, the word of PDF/UA."""

    def target(reference: str | bytes) -> Any:
        return pdf.objects[int(reference.split(maxsplit=1)[0])]

    for item in pdf.objects:
        if not isinstance(item, dict):
            continue
        if item.get("S") == "/TH":
            in_head = target(target(item["P"])["P"]).get("S") == "/THead"
            item["A"]["Scope"] = "/Column" if in_head else "/Row"
        elif item.get("Type") == "/Annot":
            item["F"] = _PRINT_FLAG
    if "AF" in pdf.catalog:
        pdf.catalog["AF"][:] = dict.fromkeys(pdf.catalog["AF"])
    metadata = target(pdf.catalog["Metadata"])
    metadata.stream = [part.replace(_END_OF_METADATA, _UA_METADATA + _END_OF_METADATA) for part in metadata.stream]


def main() -> None:
    """Read a job, make its PDF, write it."""
    job = json.load(sys.stdin.buffer)
    if job["memory_bytes"]:
        resource.setrlimit(resource.RLIMIT_AS, (job["memory_bytes"], job["memory_bytes"]))
    try:
        pdf, messages = make(job)
    except MemoryError:
        os._exit(job["memory_exit_code"])  # at once: the interpreter's own clean-up needs memory too
    sys.stdout.buffer.write(json.dumps(messages).encode() + b"\n" + pdf)


if __name__ == "__main__":
    main()
