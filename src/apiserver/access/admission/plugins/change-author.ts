import type { DecodedObject, Deployment, Namespace } from '@rollkeeper/machinery/kubernetes';
import { objectOfKind, semanticEqual, stringifyJson } from '@rollkeeper/machinery/kubernetes';
import type { WriteAttributes } from '../attributes.js';

/** The switch, on a Deployment or as a default on its Namespace (docs/ROLLOUTS.md). */
export const HISTORY = 'rollkeeper.dev/history';
/** The user that last changed the pod template. */
export const CHANGED_BY = 'rollkeeper.dev/changed-by';

/** The user that last changed `spec.replicas`, the new value, and the generation of the change. */
export const SCALED_BY = 'rollkeeper.dev/scaled-by';

/** On a pod template: the configuration that its pods read copies of (docs/ROLLOUTS.md). */
const PINNED_CONFIG = 'rollkeeper.dev/pinned-config';

const NOT_ASKED: ReadonlySet<string> = new Set(['', 'off']);

/**
 * Names the user who changes the pod template of a Deployment whose history is kept. Overrules what the request itself says in
 * that place, so that the name is that of the authenticated user.
 */
export function nameChangeAuthor(
  { caller, object, oldObject }: WriteAttributes,
  namespace: Readonly<Namespace> | undefined,
): void {
  if (!keepsHistory(object, namespace)) return annotate(object, CHANGED_BY, undefined);
  const isSame = oldObject !== undefined && semanticEqual(templateOf(object), templateOf(oldObject));
  const before = oldObject?.metadata.annotations?.[CHANGED_BY];
  annotate(object, CHANGED_BY, isSame ? before : caller.user.username);
}

/**
 * Names the user who changes the size of a Deployment whose history is kept, also by its Scale. The generation shows a reader
 * whether the name belongs to the change that it looks at: a server that names no users leaves an older name in its place.
 */
export function nameSizeAuthor(
  { caller, object, oldObject }: WriteAttributes,
  namespace: Readonly<Namespace> | undefined,
): void {
  if (!keepsHistory(object, namespace)) return annotate(object, SCALED_BY, undefined);
  const before = oldObject?.metadata.annotations?.[SCALED_BY];
  const to = sizeOf(object);
  // The creator of a new Deployment is known.
  if (oldObject === undefined || to === sizeOf(oldObject)) return annotate(object, SCALED_BY, before);
  const generation = (oldObject.metadata.generation ?? 0) + 1;
  annotate(object, SCALED_BY, stringifyJson({ by: caller.user.username, to, generation }));
}

/** Requests to a rollout, whose value is the name of the requester (docs/ROLLOUTS.md). */
const REQUESTS = ['approve', 'abort', 'retry'].map((request) => `rollkeeper.dev/${request}`);
/** Limit of the name that a request gives, characters. */
const LONGEST_NAME = 100;

/** Adds the authenticated user to the name that a new request gives: the name alone is only what the request claims. */
export function nameRequester({ caller, object, oldObject }: WriteAttributes): void {
  const { username } = caller.user;
  for (const request of REQUESTS) {
    const name = object.metadata.annotations?.[request];
    if (name === undefined || name === oldObject?.metadata.annotations?.[request]) continue;
    // Plug-ins run again after webhooks.
    if (name === username || name.endsWith(` (${username})`)) continue;
    annotate(object, request, `${name.slice(0, LONGEST_NAME)} (${username})`);
  }
}

/** Also with a duration: whether it is a valid one is the controller's to say. */
function keepsHistory(
  { metadata }: Readonly<WriteAttributes['object']>,
  namespace: Readonly<Namespace> | undefined,
): boolean {
  const asked = metadata.annotations?.[HISTORY] ?? namespace?.metadata.annotations?.[HISTORY];
  return !NOT_ASKED.has(asked?.trim() ?? '');
}

/** In place of what the request says there. */
function annotate({ metadata }: WriteAttributes['object'], name: string, value: string | undefined): void {
  const { [name]: sent, ...others } = metadata.annotations ?? {};
  if (sent === value) return;
  metadata.annotations = value === undefined ? others : { ...others, [name]: value };
}

function sizeOf(object: Readonly<WriteAttributes['object']>): unknown {
  return objectOfKind<DecodedObject<Deployment>>(object).spec?.replicas;
}

/** Without the digest that the controller adds to the change of a user. */
function templateOf(object: Readonly<WriteAttributes['object']>): unknown {
  const template = objectOfKind<DecodedObject<Deployment>>(object).spec?.template;
  const { [PINNED_CONFIG]: _digest, ...annotations } = template?.metadata?.annotations ?? {};
  return { ...template, metadata: { ...template?.metadata, annotations } };
}
