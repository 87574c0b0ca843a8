import type {
  BuiltController,
  ControllerDefinition,
  ControllerDependencies,
  Enqueue,
  Informer,
} from '@rollkeeper/runtime';
import { dueObjects } from '@rollkeeper/runtime';
import type { Namespace, Pod } from '@rollkeeper/machinery/kubernetes';
import { NAMESPACES, PODS } from '@rollkeeper/machinery/kubernetes';
import { isOursToEmpty } from './decide-content.js';
import { NamespaceReconciler } from './namespace-reconciler.js';

/** One look for many pods that go at about the same time. */
const POD_GONE_DELAY_MS = 100;

/** Empties the namespaces that are being deleted, and then lets them go. */
export const namespaceController: ControllerDefinition = {
  name: 'namespace',
  aliases: ['namespace-controller'],
  type: NAMESPACES,
  defaultWorkers: 5,
  needsWholeCluster: true,
  // One sync asks for the deletion of everything in a namespace: at 50 ms each, 16 at once, some 190 000 objects.
  syncTimeoutMs: 600_000,
  build({ informers, clock }: ControllerDependencies): BuiltController {
    const namespaces = informers.informerFor<Namespace>(NAMESPACES);
    const pods = informers.informerFor<Pod>(PODS);
    return {
      reconciler: new NamespaceReconciler(namespaces.lister, clock),
      watch(enqueue) {
        const removals = [watchNamespaces(namespaces, enqueue), watchPods(pods, namespaces, enqueue)];
        return () => removals.forEach((remove) => remove());
      },
      // A sync of such a one comes back by itself until the namespace is empty.
      due: () => dueObjects<Namespace>(namespaces.lister, isOursToEmpty),
    };
  },
};

function watchNamespaces(namespaces: Informer<Namespace>, enqueue: Enqueue): () => void {
  return namespaces.addEventHandler((event) => {
    if (event.type === 'deleted' || !isOursToEmpty(event.object)) return;
    // Our own status writes are no news.
    if (event.type === 'modified' && isOursToEmpty(event.old)) return;
    const { name, resourceVersion } = event.object.metadata;
    enqueue({
      ref: { name },
      cause: resourceVersion === undefined ? undefined : { type: NAMESPACES, resourceVersion },
      change: event,
      priority: 'normal',
      reason: event.type === 'added' && event.initial ? 'initial-list' : 'user-change',
    });
  });
}

/** The rest of a namespace waits for its pods, so their going is looked at sooner than their grace periods end. */
function watchPods(pods: Informer<Pod>, namespaces: Informer<Namespace>, enqueue: Enqueue): () => void {
  return pods.addEventHandler((event) => {
    if (event.type !== 'deleted') return;
    const { namespace: name = '' } = event.object.metadata;
    const namespace = namespaces.lister.get(name);
    if (!namespace || !isOursToEmpty(namespace)) return;
    // No cause: the namespace is read afresh, and so is its content.
    enqueue({ ref: { name }, change: event, reason: 'child-change', delayMs: POD_GONE_DELAY_MS });
  });
}
