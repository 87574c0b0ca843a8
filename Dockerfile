# One image for every role: `rollkeeper controller` by default; `apiserver` and `node` for the standalone set.
#
# The base is named in one place, by exact tag and digest.
# `npm run image-check` carries these instructions out in clean folders and starts what comes of it, without a container
# engine. For that, commands name no absolute paths.
FROM node:24.21.0-trixie-slim@sha256:8ec5d7557396cfe32d21c3f9c13072355ceab22b584578ca4bb28af31120cffe AS base
WORKDIR /app

# What npm reads: a change of a source makes nothing of it anew.
FROM base AS manifests
COPY package.json package-lock.json ./
COPY src ./src
RUN find src -type f ! -name package.json -delete && find src -type d -empty -delete

# What runs: production dependencies, exactly those of the lockfile, whose install scripts are not run.
FROM base AS dependencies
COPY --from=manifests /app ./
RUN npm ci --omit=dev --ignore-scripts --no-audit --no-fund
# Our own packages are in the bundle. Nothing at run time reads what compilers and debuggers do. typescript is an optional peer
# of a dependency; npm keeps it because the build needs it. Which of two commands of one name is linked within a package is a
# matter of chance.
RUN rm -rf node_modules/typescript node_modules/@rollkeeper \
  && find node_modules -name .bin -prune -exec rm -rf {} + \
  && find node_modules -type f \( -name '*.map' -o -name '*.d.ts' -o -name '*.d.[cm]ts' \) -delete

FROM base AS build
COPY --from=manifests /app ./
RUN npm ci --ignore-scripts --no-audit --no-fund
COPY tsconfig.json tsconfig.build.json nest-cli.json ./
COPY scripts/bundle.mjs scripts/generate-types.mjs scripts/inline-lua.mjs scripts/place-packages.mjs ./scripts/
COPY scripts/lib/workspaces.mjs ./scripts/lib/
COPY scripts/lib/schemas/group-versions.mjs ./scripts/lib/schemas/
COPY src ./src
RUN npm run build \
  && find dist -type f \( -name '*.map' -o -name '*.d.ts' \) -delete \
  && mkdir data

FROM base
LABEL org.opencontainers.image.title="Rollkeeper" \
  org.opencontainers.image.description="A highly available Deployment controller" \
  org.opencontainers.image.licenses="Apache-2.0"
ENV NODE_ENV=production
# Little memory for hardly more CPU: docs/PERFORMANCE.md. An env of the container takes their place.
ENV NODE_OPTIONS=--max-semi-space-size=8 MALLOC_ARENA_MAX=1 MALLOC_MMAP_THRESHOLD_=131072 MALLOC_TRIM_THRESHOLD_=131072
COPY package.json LICENSE ./
COPY --from=dependencies /app/node_modules ./node_modules
COPY --from=build /app/dist ./dist
# Where the API server may keep certificates and token; a new volume that is mounted there gets this owner. The root may be
# read-only: a controller keeps its state in Redis.
COPY --from=build --chown=1000:1000 /app/data /data
USER 1000:1000
EXPOSE 8080
HEALTHCHECK --interval=30s --timeout=5s --start-period=60s --start-interval=2s --retries=3 \
  CMD ["node", "dist/main.js", "healthcheck"]
ENTRYPOINT ["node", "dist/main.js"]
CMD ["controller", "--admin-host=0.0.0.0", "--admin-port=8080"]
