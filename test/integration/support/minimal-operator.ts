import { registerHooks } from 'node:module';

/** Prints the modules that a minimal operator without a Redis has loaded after it has run for a while. */
const loaded = new Set<string>();
registerHooks({
  load(url, context, next) {
    loaded.add(url);
    return next(url, context);
  },
});

const { ConfigMap, createManager, defineController, silentLogger } = await import('@rollkeeper/runtime');
const stopper = new AbortController();
const controller = defineController({ name: 'minimal', for: ConfigMap, reconcile: async () => undefined });
for (const coordination of ['leases', 'local'] as const) {
  const manager = await createManager({
    ...{ name: 'minimal', kubeconfig: process.env['KUBECONFIG'] ?? '', coordination, logger: silentLogger },
    leaderElection: { namespace: 'default' },
  });
  const running = manager.add(controller).run(stopper.signal);
  while (!manager.isLeader) await new Promise((resolve) => setTimeout(resolve, 20));
  if (coordination === 'local') stopper.abort();
  void running;
}
console.log(JSON.stringify([...loaded]));
