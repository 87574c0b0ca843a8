import { Namespace, Pod, defineController, watch, workOf } from '@rollkeeper/runtime';
import { isOursToEmpty } from './decide-content.js';
import type { EmptiedNamespace, SeenNamespace } from './namespace-reconciler.js';
import { NamespaceReconciler } from './namespace-reconciler.js';

/** One check for many pods deleted at about the same time. */
const POD_GONE_DELAY_MS = 100;

/** Empties namespaces being deleted, and then finalizes them. */
export const namespaceController = defineController<Namespace, SeenNamespace, EmptiedNamespace>(
  {
    name: 'namespace',
    aliases: ['namespace-controller'],
    for: Namespace,
    needsWholeCluster: true,
    // One sync requests the deletion of everything in a namespace: at 50 ms each, 16 at once, some 190 000 objects.
    syncTimeoutMs: 600_000,
  },
  ({ clock }) => ({
    ...workOf(new NamespaceReconciler(clock)),
    predicates: [
      // Ignores our own status writes.
      (event) =>
        event.type !== 'deleted' &&
        isOursToEmpty(event.object) &&
        !(event.type === 'modified' && isOursToEmpty(event.old)),
    ],
    urgency: (event) => ({
      priority: 'normal',
      reason: event.type === 'added' && event.initial ? 'initial-list' : 'user-change',
    }),
    watches: [
      {
        // The rest of a namespace waits for its pods, so their deletion triggers a check before their grace periods
        // end.
        ...watch(
          Pod,
          ({ metadata: { namespace: name = '' } }, listerOf) => {
            const namespace = listerOf(Namespace).get(name);
            return namespace && isOursToEmpty(namespace) ? [{ name }] : [];
          },
          ({ type }) => type === 'deleted',
        ),
        urgency: { delayMs: POD_GONE_DELAY_MS },
        // The namespace is read afresh, and so is its content.
        mustBeSeen: false,
      },
    ],
    // Its sync comes back by itself until the namespace is empty.
    isDue: isOursToEmpty,
  }),
);
