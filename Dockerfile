# The service as an image: docker build -t paybell . && docker run … paybell serve
# Two stages: the first has the tools that build, the second only Node, the program and what it depends on.
# It runs as a user without rights, and needs no file system that it can write to.

FROM node:24.21.0-bookworm-slim AS build
WORKDIR /src
COPY package.json package-lock.json ./
COPY server/package.json server/
COPY cli/package.json cli/
COPY sdk/package.json sdk/
COPY console/package.json console/build.js console/
RUN npm ci --ignore-scripts
COPY . .
RUN npm run build:console && npm run packages
WORKDIR /app
RUN npm init -y >/dev/null \
  && npm install --omit=dev --omit=optional --ignore-scripts --no-audit --no-fund \
    --install-links /src/packages/dist/paybell

FROM node:24.21.0-bookworm-slim
LABEL org.opencontainers.image.title="Paybell" \
  org.opencontainers.image.description="Tells people, reliably, that a payment has changed" \
  org.opencontainers.image.licenses="MIT"
ENV NODE_ENV=production \
  HOST=0.0.0.0 \
  PORT=8080
WORKDIR /app
COPY --from=build --chown=root:root /app/node_modules ./node_modules
USER 10001:10001
EXPOSE 8080
STOPSIGNAL SIGTERM
# Alive, not ready: a database that is away is no reason to start the container again.
HEALTHCHECK --interval=10s --timeout=3s --start-period=30s --retries=3 \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.PORT}/livez`).then(r => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]
ENTRYPOINT ["node", "--max-semi-space-size=16", "--heap-growing-percent=50", "/app/node_modules/paybell/dist/paybell.js"]
CMD ["serve"]
