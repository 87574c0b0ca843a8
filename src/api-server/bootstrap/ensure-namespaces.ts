import type { UnstructuredObject } from '../../base/kubernetes/index.js';
import { apiVersionOf, NAMESPACES } from '../../base/kubernetes/index.js';
import { StatusError } from '../errors/index.js';
import { createObject, ensureDefaultServiceAccount } from '../registry/index.js';
import type { RegistryContext } from '../registry/index.js';

const INITIAL = ['default', 'kube-system', 'kube-node-lease'];

/** Makes the namespaces that clients take for granted. */
export async function ensureInitialNamespaces(context: RegistryContext): Promise<void> {
  const { group, version, resource } = NAMESPACES;
  const kind = context.kinds.find(group, version, resource);
  if (!kind) return;
  for (const name of INITIAL) {
    const namespace: UnstructuredObject = {
      apiVersion: apiVersionOf(NAMESPACES),
      kind: NAMESPACES.kind,
      metadata: { name },
    };
    await createObject(context, { kind, namespace: '' }, namespace, { dryRun: false }).catch(
      (error: unknown) => {
        if (!(error instanceof StatusError) || error.status.reason !== 'AlreadyExists') throw error;
      },
    );
    await ensureDefaultServiceAccount(context, name);
  }
}
