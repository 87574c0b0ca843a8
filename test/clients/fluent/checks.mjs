// The abilities of kubernetes-fluent-client that are checked. Each line of output is a JSON object: {"name": …,
// "error"?: …}.
import assert from 'node:assert/strict';
import { GenericKind, K8s, RegisterKind, WatchEvent, kind } from 'kubernetes-fluent-client';

const GROUP = 'fluent.test.dev';

class Gauge extends GenericKind {}
RegisterKind(Gauge, { group: GROUP, version: 'v1', kind: 'Gauge' });

/** Generous, because a machine may be busy. */
const PATIENCE_MS = 60_000;

const until = async (condition, what) => {
  const deadline = Date.now() + PATIENCE_MS;
  while (!(await condition())) {
    assert.ok(Date.now() < deadline, `waited in vain for ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
};

const aDeployment = (namespace, replicas) => ({
  metadata: { name: 'web', namespace },
  spec: {
    replicas,
    selector: { matchLabels: { app: 'web' } },
    template: {
      metadata: { labels: { app: 'web' }, annotations: { 'node.rollkeeper.dev/logs.web': 'one\ntwo\n' } },
      spec: { containers: [{ name: 'web', image: 'nginx:1.27' }] },
    },
  },
});

/** By name. */
const CHECKS = {
  'creates, gets, lists by labels and fields, and deletes': async (namespace) => {
    const metadata = { name: 'settings', namespace, labels: { tier: 'web' } };
    await K8s(kind.ConfigMap).Create({ metadata, data: { color: 'red' } });
    await assert.rejects(K8s(kind.ConfigMap).Create({ metadata }), { status: 409 });
    const read = await K8s(kind.ConfigMap).InNamespace(namespace).Get('settings');
    assert.deepEqual(read.data, { color: 'red' });
    const byLabel = await K8s(kind.ConfigMap).InNamespace(namespace).WithLabel('tier', 'web').Get();
    assert.equal(byLabel.items.length, 1);
    const byField = await K8s(kind.ConfigMap)
      .InNamespace(namespace)
      .WithField('metadata.name', 'settings')
      .Get();
    assert.equal(byField.items.length, 1);
    await K8s(kind.ConfigMap).InNamespace(namespace).Delete('settings');
    await K8s(kind.ConfigMap).InNamespace(namespace).Delete('settings');
    await assert.rejects(K8s(kind.ConfigMap).InNamespace(namespace).Get('settings'), { status: 404 });
  },

  'applies server-side, by force where others own a field': async (namespace) => {
    const metadata = { name: 'settings', namespace };
    const applied = await K8s(kind.ConfigMap).Apply({ metadata, data: { color: 'red' } });
    assert.deepEqual(
      applied.metadata.managedFields.map(({ manager, operation }) => [manager, operation]),
      [['pepr', 'Apply']],
    );
    await K8s(kind.ConfigMap, { namespace, name: 'settings' }).Patch([
      { op: 'replace', path: '/data/color', value: 'blue' },
    ]);
    await assert.rejects(K8s(kind.ConfigMap).Apply({ metadata, data: { color: 'red' } }), { status: 409 });
    const forced = await K8s(kind.ConfigMap).Apply({ metadata, data: { color: 'red' } }, { force: true });
    assert.equal(forced.data.color, 'red');
  },

  'brings a Deployment up, scales it, reads its logs, and evicts a pod': async (namespace) => {
    await K8s(kind.Deployment).Apply(aDeployment(namespace, 1));
    const available = (count) => async () => {
      const { status } = await K8s(kind.Deployment).InNamespace(namespace).Get('web');
      return status?.availableReplicas === count;
    };
    await until(available(1), 'one replica');
    await K8s(kind.Deployment).InNamespace(namespace).Scale(2, 'web');
    await until(available(2), 'two replicas');
    const lines = await K8s(kind.Deployment).InNamespace(namespace).Logs('web');
    assert.equal(lines.length, 4);
    assert.match(lines[0], /^\[pod\/web-\S+\] one$/);
    const { items } = await K8s(kind.Pod).InNamespace(namespace).WithLabel('app', 'web').Get();
    await K8s(kind.Pod).InNamespace(namespace).Evict(items[0].metadata.name);
    const isGone = async () => {
      const { items: now } = await K8s(kind.Pod).InNamespace(namespace).WithLabel('app', 'web').Get();
      return now.every(({ metadata }) => metadata.uid !== items[0].metadata.uid);
    };
    await until(isGone, 'the pod to go');
    await until(available(2), 'another pod in its place');
  },

  'holds an object back by a finalizer': async (namespace) => {
    const secrets = () => K8s(kind.Secret).InNamespace(namespace);
    await K8s(kind.Secret).Create({ metadata: { name: 'held', namespace } });
    await secrets().Finalize('add', `${GROUP}/hold`, 'held');
    await secrets().Delete('held');
    assert.ok((await secrets().Get('held')).metadata.deletionTimestamp);
    await secrets().Finalize('remove', `${GROUP}/hold`, 'held');
    await assert.rejects(secrets().Get('held'), { status: 404 });
  },

  'watches what is there and what comes, each change once': async (namespace) => {
    await K8s(kind.Secret).Create({ metadata: { name: 'before', namespace } });
    const seen = [];
    const watcher = K8s(kind.Secret)
      .InNamespace(namespace)
      .Watch((secret, phase) => void seen.push(`${phase} ${secret.metadata.name}`));
    const connected = new Promise((resolve) => watcher.events.once(WatchEvent.CONNECT, resolve));
    await watcher.start();
    await connected;
    await K8s(kind.Secret).Create({ metadata: { name: 'after', namespace } });
    await K8s(kind.Secret).InNamespace(namespace).Delete('before');
    await until(() => seen.length >= 3, `three events, not ${seen}`);
    watcher.close();
    assert.deepEqual(seen, ['ADDED before', 'ADDED after', 'DELETED before']);
  },

  'works with objects of a kind that is defined a moment before, status included': async (namespace) => {
    const count = { type: 'integer', minimum: 0 };
    const properties = {
      spec: { type: 'object', properties: { replicas: count, unit: { type: 'string', default: 'ms' } } },
      status: { type: 'object', properties: { replicas: count } },
    };
    await K8s(kind.CustomResourceDefinition).Apply({
      metadata: { name: `gauges.${GROUP}` },
      spec: {
        group: GROUP,
        scope: 'Namespaced',
        names: { plural: 'gauges', singular: 'gauge', kind: 'Gauge' },
        versions: [
          {
            ...{ name: 'v1', served: true, storage: true, subresources: { status: {} } },
            schema: { openAPIV3Schema: { type: 'object', properties } },
          },
        ],
      },
    });
    const isServed = async () => {
      const definition = await K8s(kind.CustomResourceDefinition).Get(`gauges.${GROUP}`);
      return definition.status?.conditions?.some(
        ({ status, type }) => type === 'Established' && status === 'True',
      );
    };
    await until(isServed, 'the definition to be established');
    const metadata = { name: 'one', namespace };
    const applied = await K8s(Gauge).Apply({ metadata, spec: { replicas: 1 } });
    assert.equal(applied.spec.unit, 'ms');
    await K8s(Gauge).PatchStatus({ metadata, status: { replicas: 1 } });
    assert.deepEqual((await K8s(Gauge).InNamespace(namespace).Get('one')).status, { replicas: 1 });
    const wrong = { metadata: { ...metadata, name: 'two' }, spec: { replicas: -1 } };
    await assert.rejects(K8s(Gauge).Apply(wrong), { status: 422 });
    await K8s(kind.CustomResourceDefinition).Delete(`gauges.${GROUP}`);
  },
};

let number = 0;
for (const [name, run] of Object.entries(CHECKS)) {
  const namespace = `fluent-${number++}`;
  await K8s(kind.Namespace).Apply({ metadata: { name: namespace } });
  let error;
  try {
    await run(namespace);
  } catch (thrown) {
    // The client throws a refusal of the server as the plain answer.
    error = thrown instanceof Error ? thrown.stack : JSON.stringify(thrown);
  }
  await K8s(kind.Namespace).Delete(namespace);
  console.log(JSON.stringify({ name, error }));
}
// The client keeps connections open for ten minutes.
process.exit();
