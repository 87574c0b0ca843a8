import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readManifests } from './manifests.js';

const pod = (name: string) => ({ apiVersion: 'v1', kind: 'Pod', metadata: { name } });
const text = (name: string) => `apiVersion: v1\nkind: Pod\nmetadata: {name: ${name}}\n`;
const namesOf = async (manifests: Parameters<typeof readManifests>[0]) =>
  (await readManifests(manifests)).map(({ metadata }) => metadata.name);

let dir: string;
beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'rollkeeper-manifests-'));
  await writeFile(join(dir, 'b.yaml'), `${text('b1')}---\n${text('b2')}`);
  await writeFile(join(dir, 'a.json'), JSON.stringify(pod('a')));
  await writeFile(join(dir, 'notes.txt'), 'nothing for a cluster');
});
afterAll(() => rm(dir, { recursive: true, force: true }));

describe('manifests', () => {
  it('are text with several documents, empty ones among them', async () => {
    expect(await namesOf(`# first\n---\n${text('a')}---\n---\n${text('b')}`)).toEqual(['a', 'b']);
  });

  it('are files, folders, URLs, objects and lists of all these, in their order', async () => {
    const url = pathToFileURL(join(dir, 'a.json'));
    expect(await namesOf([pod('o'), [text('t')], { file: join(dir, 'b.yaml') }, url, { file: dir }])).toEqual(
      [...['o', 't', 'b1', 'b2', 'a'], ...['a', 'b1', 'b2']],
    );
  });

  it('come from the items of a List', async () => {
    expect(
      await namesOf(JSON.stringify({ apiVersion: 'v1', kind: 'List', items: [pod('a'), pod('b')] })),
    ).toEqual(['a', 'b']);
  });

  it('come first if others live in them, or are of them; the rest stays in its order', async () => {
    const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'shop' } };
    const definition = {
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      metadata: { name: 'widgets.example.com' },
    };
    expect(await namesOf([pod('z'), definition, pod('a'), namespace])).toEqual([
      'shop',
      'widgets.example.com',
      'z',
      'a',
    ]);
  });

  it('keep integers that no double holds', async () => {
    const [object] = await readManifests(`${text('a')}spec: {activeDeadlineSeconds: 9007199254740993}`);
    expect(object).toMatchObject({ spec: { activeDeadlineSeconds: 9007199254740993n } });
  });

  it.each([
    ['text that is no YAML', '{', /^manifests, document 1: /],
    ['a document without a kind', `${text('a')}---\na: 1`, /^manifests, document 2: apiVersion is missing/],
    [
      'an object without metadata',
      [{ apiVersion: 'v1', kind: 'Pod' }],
      /^manifests\[0\]: metadata is missing/,
    ],
    [
      'a file that is not there',
      { file: '/nowhere/x.yaml' },
      /^manifests: \/nowhere\/x\.yaml cannot be read: ENOENT/,
    ],
  ])('tell where %s stands', async (_, manifests, message) => {
    await expect(readManifests(manifests as never)).rejects.toThrow(message);
  });
});
