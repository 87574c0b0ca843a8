const SUFFIX = '.k8s.io';

/** By what an operation is known, and the tags that it is found by. */
export interface OperationName {
  readonly operationId: string;
  readonly tags: readonly string[];
}

/**
 * `read`, `/apis/apps/v1/…` and `NamespacedDeployment` are `readAppsV1NamespacedDeployment`; the core group is called `core`.
 * Source: GetOperationIDAndTags of apiserver.
 */
export function operationName(verb: string, path: string, rest: string): OperationName {
  const parts = path.split('/').filter((part) => part !== '');
  const [root = '', ...below] = parts[0] === 'api' ? ['apis', 'core', ...parts.slice(1)] : parts;
  const [group, version] = below;
  if (root !== 'apis' || group === undefined)
    return { operationId: verb + words(rest, true), tags: [words(root, false)] };
  const name = group.endsWith(SUFFIX) ? group.slice(0, -SUFFIX.length) : group;
  const isVersioned = version !== undefined;
  return {
    operationId: verb + words(name, true) + (isVersioned ? words(version, true) : '') + words(rest, true),
    tags: [words(name, false) + (isVersioned ? `_${words(version, false)}` : '')],
  };
}

/** A text in CamelCase: what is no letter and no digit begins a word. */
function words(text: string, isCapital: boolean): string {
  const all = text.split(/[^\p{L}\p{N}_]+/u);
  return all.map((word, index) => (isCapital || index > 0 ? capital(word) : word)).join('');
}

export function capital(word: string): string {
  return word.slice(0, 1).toUpperCase() + word.slice(1);
}
