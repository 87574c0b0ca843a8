import { randomBytes } from 'node:crypto';
import type { FuzzedApi, FuzzedResource } from '../arbitraries/api.js';
import { inNamespace } from './paths.js';
import type { Answer, FuzzedServer } from '../fuzzed-server.js';
import { USERS } from './users.js';

/** Namespaces that no user has rights in: they sort before, between and behind those of the users, and begin like them. */
export const OTHERS = ['aaa', 'fuzz', 'fuzz-admin-2', 'fuzz-admi', 'zzz'];

/** A text that is in one namespace alone, in every place of its objects where a text may be. */
export interface Canary {
  readonly namespace: string;
  readonly text: string;
}

export function makeCanaries(): readonly Canary[] {
  const namespaces = [...OTHERS, ...USERS.map(({ namespace }) => namespace)];
  return namespaces.map((namespace) => ({ namespace, text: `canary-${randomBytes(12).toString('hex')}` }));
}

/** The canaries of other namespaces that an answer shows, in clear or in base64. */
export function leaksIn(
  { headers, text }: Answer,
  canaries: readonly Canary[],
  namespace: string,
): readonly Canary[] {
  const all = `${JSON.stringify(headers)}\n${text}`;
  if (!all.includes('canary') && !ENCODED.some((each) => all.includes(each))) return [];
  return canaries.filter(
    (canary) => canary.namespace !== namespace && spellings(canary.text).some((each) => all.includes(each)),
  );
}

/** However the bytes before it are aligned: its own whole groups of three. */
function spellings(text: string): readonly string[] {
  return [text, ...[0, 1, 2].map((skipped) => encodedFrom(text, skipped))];
}

function encodedFrom(text: string, skipped: number): string {
  const end = skipped + Math.floor((text.length - skipped) / 3) * 3;
  return Buffer.from(text.slice(skipped, end)).toString('base64');
}

const ENCODED = [0, 1, 2].map((skipped) => encodedFrom('canary-', skipped));

/** Two objects of each kind: one that is named like those that are attacked, one whose name is the canary. */
export async function putCanaries(
  server: FuzzedServer,
  { resources }: FuzzedApi,
  { namespace, text }: Canary,
): Promise<number> {
  let count = 0;
  const wanted = resources.filter(
    ({ path, verbs }) => path.includes('/namespaces/') && verbs.includes('create') && verbs.includes('get'),
  );
  for (const resource of wanted) {
    for (const object of canaryObjects(resource, text)) {
      const answer = await server.send({
        method: 'POST',
        path: inNamespace(resource.path, namespace),
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(object),
      });
      if (answer.status < 300) count++;
    }
  }
  return count;
}

function canaryObjects({ kind, sample }: FuzzedResource, text: string): object[] {
  const { metadata, ...rest } = sample as { metadata: { name: string; labels: object } };
  const labels = { ...metadata.labels, canary: text };
  const annotations = { canary: text };
  const data = kind === 'Secret' ? { data: { canary: Buffer.from(text).toString('base64') } } : {};
  const content = { ...rest, ...data, ...(kind === 'ConfigMap' && { data: { canary: text } }) };
  return [metadata.name, text].map((name) => ({ ...content, metadata: { name, labels, annotations } }));
}
