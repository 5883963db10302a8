# The service as an image: docker build -t paybell . && docker run … paybell serve
# Three stages: the first has the tools that build; the second is Node without its package managers; the image is that,
# the program and what it depends on, in the versions of package-lock.json.
# It runs as a user without rights, and needs no file system that it can write to.

# The one base. To pin it by its digest as well: --build-arg NODE_IMAGE=node:24.21.0-bookworm-slim@sha256:…
ARG NODE_IMAGE=node:24.21.0-bookworm-slim

FROM ${NODE_IMAGE} AS build
WORKDIR /src
COPY package.json package-lock.json .npmrc ./
COPY server/package.json server/
COPY cli/package.json cli/
COPY sdk/package.json sdk/
COPY console/package.json console/
RUN npm ci --ignore-scripts
COPY . .
RUN npm run build:console && npm run packages
WORKDIR /app
# The lock file comes along, so that what the package depends on is what was tested.
RUN cp /src/package-lock.json /src/.npmrc . \
  && echo '{ "private": true }' > package.json \
  && npm install --omit=dev --omit=optional --ignore-scripts --install-links /src/packages/dist/paybell \
  && node /src/packages/check-locked.ts /src/package-lock.json package-lock.json

FROM ${NODE_IMAGE} AS base
RUN rm -rf /opt/yarn-* /usr/local/include /usr/local/share/doc /usr/local/share/man /usr/local/lib/node_modules \
  /usr/local/bin/npm /usr/local/bin/npx /usr/local/bin/corepack /usr/local/bin/yarn /usr/local/bin/yarnpkg

# From nothing, so that what the stage before removed is not below it in a layer.
FROM scratch
ARG NODE_IMAGE
ARG REVISION=unknown
LABEL org.opencontainers.image.title="Paybell" \
  org.opencontainers.image.description="Tells people, reliably, that a payment has changed" \
  org.opencontainers.image.version="0.2.0" \
  org.opencontainers.image.revision="${REVISION}" \
  org.opencontainers.image.base.name="${NODE_IMAGE}" \
  org.opencontainers.image.licenses="MIT"
ENV PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
  NODE_ENV=production \
  HOST=0.0.0.0 \
  PORT=8080
COPY --from=base / /
WORKDIR /app
COPY --from=build --chown=0:0 /app/node_modules ./node_modules
USER 10001:10001
EXPOSE 8080
STOPSIGNAL SIGTERM
# Alive, not ready: a database that is away is no reason to start the container again.
HEALTHCHECK --interval=10s --timeout=3s --start-period=150s --retries=3 \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.PORT}/livez`).then(r => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]
ENTRYPOINT ["node", "--max-semi-space-size=16", "--heap-growing-percent=150", "/app/node_modules/paybell/dist/paybell.js"]
CMD ["serve"]
