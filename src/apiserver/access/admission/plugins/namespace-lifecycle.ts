import type { Namespace } from '@rollkeeper/machinery/kubernetes';
import { notFound } from '../../../schema/errors/index.js';
import { refused } from '../attributes.js';
import type { Attributes } from '../attributes.js';
import type { FollowedObjects } from '../../../storage/index.js';

/** Namespaces that cannot be deleted. */
const IMMORTAL = new Set(['default', 'kube-system', 'kube-public', 'kube-node-lease']);

/**
 * Refuses creations in missing or terminating namespaces, and deletions of permanent ones. A namespace that the watch
 * has not shown yet is looked up.
 * @throws StatusError 404 or 403
 */
export async function admitByNamespace(
  attributes: Attributes,
  namespaces: FollowedObjects<Namespace>,
): Promise<void> {
  const { kind, name, namespace, operation } = attributes;
  if (operation === 'DELETE' && kind.type.kind === 'Namespace' && kind.type.group === '') {
    if (IMMORTAL.has(name)) throw refused(attributes, 'this namespace may not be deleted');
  }
  if (operation !== 'CREATE' || !kind.type.namespaced || attributes.subresource !== '') return;
  const found = namespaces.get('', namespace) ?? (await namespaces.lookUp('', namespace));
  if (!found) throw notFound({ group: '', resource: 'namespaces' }, namespace);
  if (!isTerminating(found)) return;
  throw refused(
    attributes,
    `unable to create new content in namespace ${namespace} because it is being terminated`,
    [
      {
        reason: 'NamespaceTerminating',
        message: `namespace ${namespace} is being terminated`,
        field: 'metadata.namespace',
      },
    ],
  );
}

function isTerminating({ metadata, status }: Readonly<Namespace>): boolean {
  return metadata.deletionTimestamp !== undefined || status?.phase === 'Terminating';
}
