/** The rules of the house that a machine can check: ARCHITECTURE.md tells their reasons. */
const adapters = String.raw`(redis|bullmq)[^/]*\.ts$|/redis/|/testing/`;
const nestWiring = String.raw`\.(module|controller|health|service|provider|filter|middleware)\.ts$|^src/(main\.|app/(cli|admin)/)|/nest-[^/]*\.ts$`;

/** A room of `src` imports from itself and from the rooms named, and from no other. */
const room = (name, ...from) => ({
  name: `${name}-imports-${['itself', ...from].join('-')}`,
  severity: 'error',
  from: { path: `^src/${name}/`, pathNot: String.raw`\.spec\.ts$` },
  to: { path: '^src/', pathNot: `^src/(${[name, ...from].join('|')})/` },
});

module.exports = {
  forbidden: [
    { name: 'no-cycles', severity: 'error', from: {}, to: { circular: true } },
    {
      name: 'only-adapters-import-redis-clients',
      severity: 'error',
      from: { path: '^src/', pathNot: adapters },
      to: { path: 'node_modules/(ioredis|bullmq)/', dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'only-wiring-imports-nest',
      severity: 'error',
      from: { path: '^src/', pathNot: nestWiring },
      to: { path: 'node_modules/@nestjs/' },
    },
    room('base'),
    room('kit', 'base'),
    room('controllers', 'base', 'kit'),
    room('api-server', 'base'),
    room('node-simulator', 'base', 'kit'),
    room('app', 'base', 'kit', 'controllers', 'api-server', 'node-simulator'),
    {
      name: 'product-does-not-import-test-code',
      severity: 'error',
      from: { path: '^src/', pathNot: String.raw`^src/testing/|\.spec\.ts$` },
      to: { path: String.raw`^src/testing/|^test/|\.spec\.ts$` },
    },
    {
      name: 'no-orphans',
      severity: 'warn',
      from: { orphan: true, pathNot: String.raw`\.d\.ts$|main\.ts$` },
      to: {},
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    // Runs in browsers, which find its parts by URL.
    exclude: { path: '^src/app/console/public/' },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['import', 'node', 'types'],
      extensions: ['.ts', '.js', '.json'],
    },
  },
};
