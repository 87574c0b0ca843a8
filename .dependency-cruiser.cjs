/** The rules of the house that a machine can check: ARCHITECTURE.md tells their reasons. */
const adapters = String.raw`(redis|bullmq)[^/]*\.ts$|/redis/|/testing/`;
const nestWiring = String.raw`\.(module|controller|health|service|provider|filter|middleware)\.ts$|^src/(rollkeeper/main\.|nest/|rollkeeper/(cli|admin)/)|/nest-[^/]*\.ts$`;

/** A room of `src` imports from itself and from the rooms named, and from no other. */
const room = (name, ...from) => ({
  name: `${name}-imports-${['itself', ...from].join('-')}`,
  severity: 'error',
  from: { path: `^src/${name}/`, pathNot: String.raw`\.(spec|fixture)\.ts$` },
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
    room('machinery'),
    room('tls', 'machinery'),
    room('client', 'machinery'),
    // `createManager` loads the default adapters if a caller gives no others.
    {
      ...room('runtime', 'client', 'machinery'),
      from: {
        path: '^src/runtime/',
        pathNot: String.raw`\.(spec|fixture)\.ts$|^src/runtime/operator/manager/create-manager\.ts$`,
      },
    },
    room('redis', 'client', 'machinery', 'runtime'),
    room('opentelemetry', 'machinery', 'runtime'),
    room('webhooks', 'machinery', 'runtime', 'tls'),
    room('nest', 'machinery', 'opentelemetry', 'runtime', 'webhooks'),
    room('controllers', 'client', 'machinery', 'runtime', 'tls'),
    room('apiserver', 'machinery', 'redis', 'tls'),
    room('scheduler', 'client', 'machinery', 'runtime'),
    room('simulator', 'client', 'machinery'),
    room(
      'testing',
      'apiserver',
      'client',
      'controllers',
      'machinery',
      'opentelemetry',
      'redis',
      'runtime',
      'scheduler',
      'simulator',
      'tls',
      'webhooks',
    ),
    {
      name: 'no-package-imports-the-product',
      severity: 'error',
      from: { path: '^src/', pathNot: '^src/rollkeeper/' },
      to: { path: '^src/rollkeeper/' },
    },
    {
      name: 'nothing-in-production-imports-the-test-cluster',
      severity: 'error',
      from: {
        path: '^src/',
        pathNot: String.raw`^src/testing/|^src/rollkeeper/doors/|^src/rollkeeper/cli/test-cluster\.command\.ts$|\.(spec|fixture)\.ts$`,
      },
      to: { path: '^src/testing/' },
    },
    {
      name: 'nest-and-controllers-use-the-runtime-as-strangers-do',
      severity: 'error',
      from: { path: '^src/(nest|controllers|webhooks)/', pathNot: String.raw`\.(spec|fixture)\.ts$` },
      to: { path: '^src/(client|runtime)/', pathNot: String.raw`^src/runtime/index\.ts$` },
    },
    // The algorithm of Kubernetes is read beside its source in Go: it takes limits as data, and knows no policy.
    {
      name: 'the-algorithm-of-kubernetes-knows-no-policy',
      severity: 'error',
      from: { path: '^src/controllers/deployment/kubernetes/', pathNot: String.raw`\.(spec|fixture)\.ts$` },
      to: { path: '^src/controllers/deployment/', pathNot: '^src/controllers/deployment/kubernetes/' },
    },
    {
      name: 'policies-know-nothing-of-the-reconciler',
      severity: 'error',
      from: { path: '^src/controllers/deployment/policies/', pathNot: String.raw`\.(spec|fixture)\.ts$` },
      to: {
        path: '^src/controllers/deployment/',
        pathNot: '^src/controllers/deployment/(kubernetes|policies)/',
      },
    },
    {
      name: 'queues-know-nothing-of-activations',
      severity: 'error',
      from: { path: '^src/(runtime|redis)/work-queue/' },
      to: { path: '^src/(runtime|redis)/activation/' },
    },
    {
      name: 'locks-and-stored-state-know-nothing-of-queues',
      severity: 'error',
      from: {
        path: '^src/(runtime|redis)/activation/(actor-store|key-lock|bounded-work|memory-actor-store|stored-actor-runtime|activation|redis-actor-)',
        pathNot: 'activations|activation-queue',
      },
      to: { path: '^src/(runtime|redis)/work-queue/' },
    },
    {
      name: 'the-kit-loads-no-server-and-no-command-line',
      severity: 'error',
      from: { path: '^src/(machinery|client|runtime|redis|opentelemetry|webhooks)/' },
      to: { path: 'node_modules/(@nestjs|@bull-board|express|commander|helmet|lit-html)/' },
    },
    {
      name: 'product-does-not-import-test-code',
      severity: 'error',
      from: { path: '^src/', pathNot: String.raw`^src/testing/|\.(spec|fixture)\.ts$` },
      to: { path: String.raw`^test/|\.(spec|fixture)\.ts$` },
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
    exclude: {
      path: '^src/rollkeeper/(admin/console/public|generate/operator/template)/|^src/[^/]+/dist/',
    },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['rollkeeper:source', 'import', 'node', 'types'],
      extensions: ['.ts', '.js', '.json'],
    },
  },
};
