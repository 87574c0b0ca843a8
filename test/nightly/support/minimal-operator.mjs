// The smallest operator: greets each ConfigMap that asks for it. test/nightly/runtimes.test.ts runs it on all runtimes.
import { ConfigMap, createManager, defineController, stopSignal } from '@rollkeeper/runtime';

const greeter = defineController({
  name: 'greeter',
  for: ConfigMap,
  async reconcile(_request, { client, object }) {
    if (!object?.metadata.labels?.greet || object.data?.greeting) return;
    const body = { data: { greeting: `hello ${object.metadata.name}` } };
    await client.patch(ConfigMap, object.metadata, { type: 'merge', body });
  },
});

const manager = await createManager({ name: 'greeter', coordination: 'local' });
await manager.add(greeter).run(stopSignal());
console.log('stopped');
