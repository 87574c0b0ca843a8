import {
  Deployment,
  applyDependents,
  defineController,
  dependent,
  generationChanged,
  updateStatus,
} from '@rollkeeper/runtime';
import { Website } from './kinds.ts';

/** A Website is a Deployment. Any `await` may be the last line that runs, so a second run has to end in the same state. */
export const websites = defineController({
  name: 'websites',
  for: Website,
  predicates: [generationChanged],
  owns: [Deployment],
  // `npm run generate` makes the roles of the chart from this.
  writes: [
    { kind: Website, verbs: [], subresources: ['status', 'finalizers'] },
    // To apply what is not there yet is to create it.
    { kind: Deployment, verbs: ['create', 'patch', 'delete'] },
  ],
  async reconcile({ name }, context) {
    const { client, object, owned } = context;
    if (!object) return;
    const { image, replicas } = object.spec;
    const labels = { 'app.kubernetes.io/instance': name, 'app.kubernetes.io/managed-by': 'website-operator' };
    const template = { metadata: { labels }, spec: { containers: [{ name: 'main', image }] } };
    const spec = { replicas, selector: { matchLabels: labels }, template };
    const deployment = dependent(Deployment, { metadata: { name }, spec });
    await applyDependents(context, object, [deployment], { fieldManager: 'website-operator' });
    const available = owned(Deployment)[0]?.status?.availableReplicas ?? 0;
    await updateStatus(client, Website, object, { ready: available >= replicas });
  },
});
