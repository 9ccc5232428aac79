# check=skip=RedundantTargetPlatform
#
# One image for every program: Node, the libraries that it links, the bundled programs, nothing else. The first argument of a
# container names the program: `operator`, `bundle-server`, `export-service`, `webhook-receiver`, `static-export`,
# `tap-static-export`. No shell is needed at any point of its life, the root file system may be read-only, and any
# user id will do.
#
#   docker buildx build --platform linux/amd64,linux/arm64 --tag static-export-operator:0.1.0 .
#
#   BUILDER        Debian with Node 26 or 24, npm and a shell; builds and is left behind. Nothing of it is in the image
#   DEBIAN_MIRROR  mirror of Debian, the folder that has `pool`; the builder's own when empty. Its archives' sums are in the sources
#   VERSION        what the label says, as a release; REVISION its commit, SOURCE where the sources are
#
# What is built already takes the place of a stage: --build-context programs=FOLDER of `npm run build`, and
# --build-context documents=FOLDER of `node .ci/third-party.ts FOLDER`. So does another base: --build-context
# base=docker-image://NAME@sha256:… and the same for `own`. It has Node from 26.12.1 on (or 24 from 24.22.1 on) at
# /nodejs/bin/node, and a user 65532.
#
# Nothing runs but on the builder's own architecture, so a foreign one needs no emulation: programs are text. Only what
# V8 compiled belongs to an architecture, and is left out of images for another than the builder's.

ARG BUILDER=docker.io/library/node:26-trixie-slim

FROM --platform=$BUILDPLATFORM ${BUILDER} AS packages
WORKDIR /source
COPY package.json package-lock.json ./
RUN npm ci --ignore-scripts --no-audit --no-fund

FROM packages AS build
COPY tsconfig.json ./
COPY test/support/assert-node.mjs test/support/
COPY .ci/third-party.ts .ci/bundle.ts .ci/ascii-programs.ts .ci/
COPY packaging/release/software-bill.ts packaging/release/
RUN node .ci/third-party.ts documents
COPY src src
RUN npm run build

FROM scratch AS programs
COPY --from=build /source/dist/*.mjs /source/dist/*.LEGAL.txt /
# The command line is in pieces: each command loads its own. So is the server: its first page needs few of them.
COPY --from=build /source/dist/static-export/*.mjs /source/dist/static-export/*.LEGAL.txt /static-export/
COPY --from=build /source/dist/bundle-server/*.mjs /source/dist/bundle-server/*.LEGAL.txt /bundle-server/

# The packages in the programs: a bill of materials, and their notices.
FROM scratch AS documents
COPY --from=build /source/documents /

# The base, made of pinned archives.
FROM packages AS root
COPY packaging/base packaging/base/
COPY packaging/release/fixed-tar.ts packaging/release/tool.ts packaging/release/
ARG TARGETARCH
ARG DEBIAN_MIRROR=""
ENV NODE_USE_ENV_PROXY=1
RUN node packaging/base/make-base.ts /base "linux/$TARGETARCH" "$DEBIAN_MIRROR"
FROM scratch AS base
COPY --from=root /base /

# The same Node for the builder's architecture, on the builder's own libraries: npm has installed it. A stage from scratch would
# be of the target's architecture, whatever platform it names.
FROM packages AS own
RUN mkdir -p /nodejs/bin && cp node_modules/node-linux-*/bin/node /nodejs/bin/

# What V8 compiled of each program, kept for the next start, which is sooner and smaller by it. It is bound to Node's
# version, the architecture, the processor's features and the user id; where one differs, Node goes on without it.
#
# The same programs give the same bytes, so that a release can be built again: V8 draws no random hash seed (which is not one
# of the flags that a cache is bound to), files are read one after another, and no short timer races with an answer.
FROM --platform=$BUILDPLATFORM own AS compiled
ARG BUILDARCH
ARG TARGETARCH
COPY --from=programs / /app/
USER 65532:65532
# Another base may have an older Node.
RUN ["/nodejs/bin/node", "--eval", "const [major, minor, patch] = process.versions.node.split('.').map(Number); const fixed = { 24: [22, 1], 26: [12, 1] }[major] ?? [0, 0]; if (minor < fixed[0] || (minor === fixed[0] && patch < fixed[1])) { console.error(`The base has Node ${process.version}, whose Brotli decoder is flawed. Name a newer base.`); process.exit(1); }"]
ENV NODE_COMPILE_CACHE=/tmp/compiled/${BUILDARCH} UV_THREADPOOL_SIZE=1
RUN ["/nodejs/bin/node", "--random-seed=1", "/app/entrypoint.mjs", "operator", "--version"]
RUN ["/nodejs/bin/node", "--random-seed=1", "/app/entrypoint.mjs", "export-service", "--version"]
RUN ["/nodejs/bin/node", "--random-seed=1", "/app/entrypoint.mjs", "webhook-receiver", "--version"]
RUN ["/nodejs/bin/node", "--random-seed=1", "/app/entrypoint.mjs", "static-export", "--version"]
# The server loads its pieces when it starts, and its first thread is as important: it runs until its time is over. What it
# loads after a short time only, the second line loads.
RUN ["/nodejs/bin/node", "--random-seed=1", "--eval", "const later = 'const start = setTimeout; globalThis.setTimeout = (run, ms, ...rest) => start(run, ms < 1000 ? 60000 : ms, ...rest); process.once(\"SIGTERM\", () => process.exit());'; child_process.spawnSync(process.execPath, ['--random-seed=1', '--import=data:text/javascript,' + encodeURIComponent(later), '/app/entrypoint.mjs', 'bundle-server', '--bundle-url=file:///none', '--store=/tmp/store', '--listen=127.0.0.1:0', '--admin-listen=127.0.0.1:0', '--drain-linger=0s'], { stdio: 'inherit', timeout: 10000 })"]
RUN ["/nodejs/bin/node", "--random-seed=1", "--input-type=module", "--eval", "for (const name of fs.readdirSync('/app/bundle-server').sort()) if (name.endsWith('.mjs')) await import('/app/bundle-server/' + name); process.exit();"]
# The other threads, each until it has refused an empty task.
RUN ["/nodejs/bin/node", "--random-seed=1", "--eval", "for (const [name, task] of Object.entries({ check: '', bundle: '', mirror: 'restore', variant: '' })) { const thread = new worker_threads.Worker(`/app/${name}-worker.mjs`); thread.once('message', () => thread.terminate()); thread.postMessage({ input: { task } }); }"]
# Empty where the two differ.
RUN ["/nodejs/bin/node", "--random-seed=1", "--eval", "fs.mkdirSync('/tmp/compiled/' + process.env.TARGETARCH, { recursive: true })"]

# Said, because buildah goes on with the platform of the stage before.
FROM --platform=$TARGETPLATFORM base
ARG TARGETARCH
ARG VERSION=0.1.0
ARG REVISION=""
ARG SOURCE=""
LABEL org.opencontainers.image.title="static-export-operator" \
      org.opencontainers.image.description="Keeps a hosted docs site's static export published in your own cluster" \
      org.opencontainers.image.licenses="Apache-2.0" \
      org.opencontainers.image.version="${VERSION}" \
      org.opencontainers.image.revision="${REVISION}" \
      org.opencontainers.image.source="${SOURCE}"
COPY --from=documents / /usr/share/doc/static-export-operator/
COPY LICENSE /usr/share/doc/static-export-operator/
COPY --from=programs / /app/
# Node keeps them to their user, and not every builder keeps the user.
COPY --from=compiled --chown=65532:65532 /tmp/compiled/${TARGETARCH} /app/compiled
WORKDIR /app
# One arena for what lies outside of the heap: each thread that ends would leave one of its own behind, 20 MB together.
# A user id without an account would have / as its home.
ENV NODE_ENV=production NODE_COMPILE_CACHE=/app/compiled MALLOC_ARENA_MAX=1 HOME=/home/nonroot
USER 65532:65532
ENTRYPOINT ["/nodejs/bin/node", "/app/entrypoint.mjs"]
