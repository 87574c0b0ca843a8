/** The oldest supported Node: `engines` of package.json, which a bundle does not have beside it. */
export const OLDEST_NODE = '22.19.0';

/** The problem with this version of Node, in one line; undefined if there is none. */
export function nodeProblem(version: string, oldest: string): string | undefined {
  const [has, needs] = [version, oldest].map((text) => text.replace(/^v/, '').split('.').map(Number));
  const differing = needs?.findIndex((number, index) => number !== has?.[index]) ?? -1;
  if (differing < 0 || (has?.[differing] ?? 0) > (needs?.[differing] ?? 0)) return undefined;
  return `Node ${oldest} or newer is needed, this is ${version}`;
}
