import type { Namespace } from '@rollkeeper/machinery/kubernetes';
import { semanticEqual } from '@rollkeeper/machinery/kubernetes';
import type { WriteAttributes } from '../attributes.js';

/** The switch, on a Deployment or as a default on its Namespace (docs/ROLLOUTS.md). */
export const HISTORY = 'rollkeeper.dev/history';
/** Who changed the pod template last. */
export const CHANGED_BY = 'rollkeeper.dev/changed-by';

const NOT_ASKED: ReadonlySet<string> = new Set(['', 'off']);

/**
 * Names the user who changes the pod template of a Deployment whose history is kept. What the request itself says in that place is
 * overruled, so that the name is that of the authenticated user.
 */
export function nameChangeAuthor(
  { caller, object, oldObject }: WriteAttributes,
  namespace: Readonly<Namespace> | undefined,
): void {
  const { metadata } = object;
  const asked = metadata.annotations?.[HISTORY] ?? namespace?.metadata.annotations?.[HISTORY];
  // Also a duration: whether it is a valid one is the controller's to say.
  if (NOT_ASKED.has(asked?.trim() ?? '')) return;
  const isSame = oldObject !== undefined && semanticEqual(templateOf(object), templateOf(oldObject));
  const before = oldObject?.metadata.annotations?.[CHANGED_BY];
  const author = isSame ? before : caller.user.username;
  const { [CHANGED_BY]: _sent, ...others } = metadata.annotations ?? {};
  metadata.annotations = author === undefined ? others : { ...others, [CHANGED_BY]: author };
}

function templateOf(object: Readonly<WriteAttributes['object']>): unknown {
  return (object.spec as { readonly template?: unknown } | undefined)?.template;
}
