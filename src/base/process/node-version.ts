import { readFileSync } from 'node:fs';

/** The oldest Node that the program runs on, as package.json's `engines` says it: `22.19.0`. */
export function oldestNode(packageJson = new URL('../../../package.json', import.meta.url)): string {
  const { engines } = JSON.parse(readFileSync(packageJson, 'utf8')) as { engines: { node: string } };
  return engines.node.replace(/^>=/, '');
}

/** What is wrong with a Node of this version, for the person who started it; undefined when nothing is. */
export function nodeProblem(version: string, oldest: string): string | undefined {
  const [has, needs] = [version, oldest].map((text) => text.replace(/^v/, '').split('.').map(Number));
  const differing = needs?.findIndex((number, index) => number !== has?.[index]) ?? -1;
  if (differing < 0 || (has?.[differing] ?? 0) > (needs?.[differing] ?? 0)) return undefined;
  return `Node ${oldest} or newer is needed, this is ${version}; \`npm start\` and \`npx rollkeeper\` bring one along`;
}
