/** The rules of the house that a machine can check: ARCHITECTURE.md tells their reasons. */
const adapters = String.raw`(redis|bullmq)[^/]*\.ts$|/redis/|/testing/`;
const nestWiring = String.raw`\.(module|controller|health|service|provider|filter|middleware)\.ts$|^src/(main\.|nest/|app/(cli|admin)/)|/nest-[^/]*\.ts$`;

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
    room('nest', 'base', 'kit'),
    room('controllers', 'base', 'kit'),
    room('api-server', 'base'),
    room('node-simulator', 'base', 'kit'),
    room('test-cluster', 'base', 'kit', 'controllers', 'api-server', 'node-simulator'),
    {
      ...room('app', 'base', 'kit', 'nest', 'controllers', 'api-server', 'node-simulator'),
      from: { path: '^src/app/', pathNot: String.raw`\.spec\.ts$|^src/app/cli/test-cluster\.command\.ts$` },
    },
    {
      name: 'nothing-in-production-imports-the-test-cluster',
      severity: 'error',
      from: {
        path: '^src/',
        pathNot: String.raw`^src/(test-cluster|testing)/|^src/app/cli/test-cluster\.command\.ts$|\.spec\.ts$`,
      },
      to: { path: '^src/test-cluster/' },
    },
    {
      name: 'nest-and-controllers-use-the-kit-as-strangers-do',
      severity: 'error',
      from: { path: '^src/(nest|controllers)/', pathNot: String.raw`\.spec\.ts$` },
      to: { path: '^src/kit/', pathNot: String.raw`^src/kit/index\.ts$` },
    },
    {
      name: 'queues-know-nothing-of-actors',
      severity: 'error',
      from: { path: '^src/kit/work-queue/' },
      to: { path: '^src/kit/actor' },
    },
    {
      name: 'actors-know-nothing-of-queues',
      severity: 'error',
      from: { path: '^src/kit/actor/' },
      to: { path: '^src/kit/(work-queue|actor-queue)/' },
    },
    {
      name: 'the-kit-loads-no-server-and-no-command-line',
      severity: 'error',
      from: { path: '^src/(base|kit)/' },
      to: { path: 'node_modules/(@nestjs|@bull-board|express|commander|helmet|lit-html)/' },
    },
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
