# The image that the CronJob runs: Debian's Python, the locked requirements, the application; no compiler, no pip.
# Any Debian 13 base does, for one made without a registry: --build-arg BASE_IMAGE=localhost/base:trixie
ARG BASE_IMAGE=debian:trixie-slim

FROM ${BASE_IMAGE} AS builder
# hadolint ignore=DL3008 # Debian keeps only the newest build of a stable release's package: a pinned one stops existing
RUN apt-get update \
    && apt-get install --yes --no-install-recommends ca-certificates python3 python3-venv \
    && rm -rf /var/lib/apt/lists/* /var/cache/apt/*
# pip has an environment of its own and fills the other one, which so never contains it.
RUN python3 -m venv /opt/pip && python3 -m venv --without-pip /opt/venv
COPY requirements.txt /build/
# A site with its own package index or certificates passes its pip.conf as the secret `pipconf`; no layer keeps it.
# The packages' own tests and the Kubernetes client's asyncio copy are a fifth of their size and never used here.
RUN --mount=type=secret,id=pipconf,target=/etc/pip.conf \
    /opt/pip/bin/pip --python /opt/venv/bin/python install --no-cache-dir --only-binary :all: --require-hashes --requirement /build/requirements.txt \
    && find /opt/venv -type d \( -name tests -o -path '*/kubernetes/aio' \) -prune -exec rm -rf {} +

FROM ${BASE_IMAGE}
# Pango and HarfBuzz draw the PDF. DejaVu and WenQuanYi hold what the report's own font lacks: most scripts, and Chinese,
# Japanese and Korean in 5 MB. tzdata knows the time zones of CronJobs.
# hadolint ignore=DL3008 # as above
RUN apt-get update \
    && apt-get install --yes --no-install-recommends \
        ca-certificates fonts-dejavu-core fonts-wqy-microhei libharfbuzz-subset0 libpangoft2-1.0-0 python3 tzdata \
    && rm -rf /var/lib/apt/lists/* /var/cache/apt/* \
    && groupadd --gid 10001 nightcap \
    && useradd --uid 10001 --gid 10001 --home-dir /tmp --no-create-home --shell /usr/sbin/nologin nightcap \
    && install --directory --owner 10001 --group 10001 /app/out /app/spool
COPY --from=builder /opt/venv /opt/venv
WORKDIR /app
COPY batch batch
COPY reports reports
COPY sample/cluster sample/cluster
# The root file system may be read-only: Python writes no caches, so they are made here, and libraries use /tmp.
RUN /opt/venv/bin/python -m compileall -q batch
ENV PATH=/opt/venv/bin:$PATH \
    PYTHONDONTWRITEBYTECODE=1 \
    MPLCONFIGDIR=/tmp \
    XDG_CACHE_HOME=/tmp
USER 10001:10001
ENTRYPOINT ["python", "-m", "batch"]
CMD ["run"]
