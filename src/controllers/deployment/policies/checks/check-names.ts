/** A name is a key of a ConfigMap. The limit of its length keeps messages and names of Jobs short. */
const CHECK_NAME = /^[A-Za-z0-9]([-._A-Za-z0-9]{0,61}[A-Za-z0-9])?$/;
const CONFIG_MAP_NAME = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;
const LONGEST_CONFIG_MAP_NAME = 253;
/** Each is measured for itself, so that many of them are many requests. */
const MOST_CHECKS = 10;

export function isCheckName(text: string): boolean {
  return CHECK_NAME.test(text);
}

export function isConfigMapName(text: string): boolean {
  return text.length <= LONGEST_CONFIG_MAP_NAME && CONFIG_MAP_NAME.test(text);
}

/** `error-rate, latency`: the names, each once; or why they cannot be read. */
export function parseCheckNames(text: string): readonly string[] | string {
  const names = [...new Set(text.split(',').map((name) => name.trim()))];
  const wrong = names.find((name) => !isCheckName(name));
  if (wrong !== undefined)
    return `names a check "${wrong}", which is no key of a ConfigMap of at most 63 characters`;
  return names.length > MOST_CHECKS ? `names ${names.length} checks, the most are ${MOST_CHECKS}` : names;
}
