import { ensureDefaultServiceAccount } from '../registry/index.js';
import type { RegistryContext } from '../registry/index.js';
import { ensureObject } from './ensure-object.js';

const INITIAL = ['default', 'kube-system', 'kube-public', 'kube-node-lease'];

/** Makes the namespaces that clients take for granted. */
export async function ensureInitialNamespaces(context: RegistryContext): Promise<void> {
  for (const name of INITIAL) {
    await ensureObject(context, { apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
    await ensureDefaultServiceAccount(context, name);
  }
}
