/**
 * A Deployment annotated `example.com/canary-image` has a second one beside it, NAME-canary: one pod of that image. Any
 * becomes of it is put right; it goes with the annotation, and with its owner.
 */
import {
  Deployment,
  annotationsChanged,
  anyOf,
  createManager,
  createOrUpdate,
  defineController,
  generationChanged,
  setControllerReference,
  stopSignal,
} from 'rollkeeper';

const IMAGE = 'example.com/canary-image';

const canary = defineController({
  name: 'canary',
  for: Deployment,
  predicates: [anyOf(generationChanged, annotationsChanged)],
  owns: [{ kind: Deployment, predicates: [generationChanged] }],
  async reconcile({ name, namespace }, { client, events, object, owned }) {
    if (!object || object.metadata.deletionTimestamp) return;
    const image = object.metadata.annotations?.[IMAGE];
    if (!image) {
      for (const { metadata } of owned(Deployment))
        await client.delete(Deployment, metadata, { preconditions: { uid: metadata.uid } });
      return;
    }
    const ref = { namespace, name: `${name}-canary` };
    const { did } = await createOrUpdate(client, Deployment, ref, (copy) => {
      setControllerReference(object, copy);
      const labels = { 'example.com/canary-of': name };
      const { spec } = structuredClone(object.spec.template) as Deployment['spec']['template'];
      const containers = (spec?.containers ?? []).map((container) => ({ ...container, image }));
      const template = { metadata: { labels }, spec: { ...copy.spec?.template.spec, ...spec, containers } };
      copy.spec = { ...copy.spec, replicas: 1, selector: { matchLabels: labels }, template };
    });
    if (did !== 'nothing')
      events.record(object, { type: 'Normal', reason: 'Canary', message: `${ref.name} runs ${image}` });
  },
});

const manager = await createManager({
  name: 'canary',
  probes: { port: Number(process.env['PORT'] ?? 8080) },
});
await manager.add(canary).run(stopSignal());
