# One image for every role: `rollkeeper controller` by default, `apiserver` and `node` for the standalone set.
FROM node:24-slim AS build
WORKDIR /app
COPY package.json package-lock.json ./
RUN npm ci --no-audit --no-fund
COPY tsconfig.json tsconfig.build.json nest-cli.json ./
COPY scripts/bundle.mjs ./scripts/
COPY src ./src
RUN npm run build && npm prune --omit=dev --no-audit --no-fund

FROM node:24-slim
ENV NODE_ENV=production
# Little memory for hardly more CPU: docs/PERFORMANCE.md. An env of the container takes their place.
ENV NODE_OPTIONS=--max-semi-space-size=8 MALLOC_ARENA_MAX=1
WORKDIR /app
COPY --from=build /app/package.json ./
COPY --from=build /app/node_modules ./node_modules
COPY --from=build /app/dist ./dist
# Not root, and nothing to write: the controller keeps its state in Redis.
USER node
EXPOSE 8080
ENTRYPOINT ["node", "dist/main.js"]
CMD ["controller", "--help"]
