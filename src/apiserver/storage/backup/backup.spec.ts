import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { FakeClock } from '../../../machinery/clock/index.js';
import type { Storage, StorageKey } from '../index.js';
import { MemoryStorage } from '../index.js';
import { BackupFileError } from './backup-file.js';
import { backUp, hasObjects, restore } from './backup.js';

const options = { clock: new FakeClock(), version: '1.2.3' };

function key(name: string, resource = 'pods', namespace = 'default'): StorageKey {
  return { resource, namespace, name };
}

function object(name: string, namespace: string | undefined = 'default', more: object = {}) {
  return {
    apiVersion: 'v1',
    kind: 'Thing',
    metadata: { name, ...(namespace ? { namespace } : {}) },
    ...more,
  };
}

describe('a backup', () => {
  let folder: string;
  let file: string;
  let storage: Storage;

  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'rollkeeper-backup-'));
    file = join(folder, 'backup.gz');
    storage = new MemoryStorage();
    await storage.create(key('one', 'namespaces', ''), object('one', ''));
    await storage.create(key('30000-tcp', 'nodeports.internal', ''), object('30000-TCP', ''));
    for (let i = 0; i < 1200; i++)
      await storage.create(key(`p${i}`), object(`p${i}`, 'default', { size: 9007199254740993n, i }));
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  const linesOf = (path: string): string[] => gunzipSync(readFileSync(path)).toString().trimEnd().split('\n');
  const rewrite = (change: (lines: string[]) => string[]): void =>
    writeFileSync(file, gzipSync(`${change(linesOf(file)).join('\n')}\n`));

  it('gives another store all objects, to the last digit, at revisions of its own', async () => {
    const { objects, revision } = await backUp(storage, file, options);
    expect({ objects, revision }).toEqual({ objects: 1202, revision: await storage.currentRevision() });
    const other = new MemoryStorage();
    expect(await hasObjects(other)).toBe(false);
    const restored = await restore(other, file);
    expect(restored).toEqual({ objects: 1202, revision: await other.currentRevision() });
    for (const resource of ['namespaces', 'nodeports.internal', 'pods']) {
      const [was, is] = [await storage.list(resource), await other.list(resource)];
      const bare = ({ items }: typeof was): unknown[] =>
        items.map((item) => ({ ...item.object, metadata: { ...item.object.metadata, resourceVersion: '' } }));
      expect(bare(is)).toEqual(bare(was));
    }
  });

  it('says in its first line what it is, and may be read by its owner alone', async () => {
    await backUp(storage, file, options);
    expect(JSON.parse(linesOf(file)[0]!)).toEqual({
      format: 'rollkeeper-backup',
      version: 1,
      rollkeeper: '1.2.3',
      createdAt: expect.stringMatching(/^\d{4}-.*Z$/) as string,
      resourceVersion: '1203',
    });
    expect(statSync(file).mode & 0o777).toBe(0o600);
  });

  it('shows one moment, whatever is written while it is made', async () => {
    const before = await storage.list('pods');
    const writing = (async () => {
      for (let i = 0; i < 300; i++) {
        await storage.create(key(`q${i}`), object(`q${i}`));
        await storage.delete(
          key(`p${i}`),
          before.items.find((item) => item.object.metadata.name === `p${i}`)!.revision,
        );
      }
    })();
    const { objects, revision } = await backUp(storage, file, options);
    await writing;
    const other = new MemoryStorage();
    await restore(other, file);
    const names = (await other.list('pods')).items.map((item) => item.object.metadata.name);
    const state = await storage.list('pods', { continueFrom: { revision, namespace: '', name: '' } });
    expect(names).toEqual(state.items.map((item) => item.object.metadata.name));
    expect(objects).toBe(names.length + 2);
  });

  it('leaves the one before where it is when it cannot be finished, and nothing of itself', async () => {
    writeFileSync(file, 'the one before');
    const broken: Storage = Object.assign(Object.create(storage) as Storage, {
      list: () => Promise.reject(new Error('gone')),
    });
    await expect(backUp(broken, file, options)).rejects.toThrow('gone');
    expect(readFileSync(file, 'utf8')).toBe('the one before');
    expect(readdirSync(folder)).toEqual(['backup.gz']);
    await expect(backUp(storage, join(folder, 'no', 'file'), options)).rejects.toThrow(
      /cannot be written.*ENOENT/,
    );
  });

  it('is begun again when the state that it shows leaves the log, and given up in the end', async () => {
    let pages = 0;
    const busy: Storage = Object.assign(Object.create(storage) as Storage, {
      list: async (...args: Parameters<Storage['list']>) => {
        const page = await storage.list(...args);
        if (pages++ < 3)
          await storage.compact((await storage.create(key(`x${pages}`), object(`x${pages}`))).revision);
        return page;
      },
    });
    const { objects } = await backUp(busy, file, options);
    expect(objects).toBe(1205);
    pages = -1000;
    await expect(backUp(busy, file, options)).rejects.toThrow('too much is written meanwhile');
  });

  describe('restored', () => {
    let other: Storage;

    beforeEach(async () => {
      await backUp(storage, file, options);
      other = new MemoryStorage();
      await other.create(key('mine'), object('mine'));
    });

    it.each<{ name: string; spoil: () => void; message: string }>([
      {
        name: 'whose second half was never written',
        spoil: () => writeFileSync(file, readFileSync(file).subarray(0, readFileSync(file).length / 2)),
        message: 'its end is missing',
      },
      {
        name: 'whose last line was never written',
        spoil: () => rewrite((lines) => lines.slice(0, -1)),
        message: 'its end is missing',
      },
      {
        name: 'that misses a line',
        spoil: () => rewrite((lines) => lines.filter((_, index) => index !== 5)),
        message: 'does not fit its checksum',
      },
      {
        name: 'that was changed',
        spoil: () => rewrite((lines) => lines.map((line) => line.replace('"i":7', '"i":8'))),
        message: 'does not fit its checksum',
      },
      {
        name: 'that has an object twice',
        spoil: () => rewrite((lines) => [...lines.slice(0, 3), lines[2]!, ...lines.slice(3)]),
        message: 'is in it twice',
      },
      {
        name: 'with something behind its end',
        spoil: () => rewrite((lines) => [...lines, lines[1]!]),
        message: 'goes on behind its end',
      },
      {
        name: 'with a line that is no JSON',
        spoil: () => rewrite((lines) => [lines[0]!, '{', ...lines.slice(1)]),
        message: 'a line in it is not JSON',
      },
      {
        name: 'of a version to come',
        spoil: () => rewrite(([first, ...rest]) => [first!.replace('"version":1', '"version":9'), ...rest]),
        message: 'a backup of version 9, written by Rollkeeper 1.2.3; this program reads version 1',
      },
      {
        name: 'that is another file of JSON',
        spoil: () => writeFileSync(file, gzipSync('{"kind":"List"}\n')),
        message: 'is no backup of Rollkeeper',
      },
      {
        name: 'that is no gzip',
        spoil: () => writeFileSync(file, 'apiVersion: v1\n'),
        message: 'is no backup of Rollkeeper, or it is damaged',
      },
      ...[
        { name: 'whose record has another object', change: { name: 'other' } },
        { name: 'whose record has another namespace', change: { namespace: 'kube-system' } },
        { name: 'whose record has a path for a name', change: { name: '../p0' } },
        { name: 'whose record has a separator in its namespace', change: { namespace: 'default\u0000x' } },
        { name: 'whose record has no name', change: { name: '' } },
        { name: 'whose record has a number for a resource', change: { resource: 5 } },
        { name: 'whose record has no object', change: { object: 'text' } },
        { name: 'whose record has an object without metadata', change: { object: { kind: 'Pod' } } },
      ].map(({ change, name }) => ({
        name,
        spoil: () =>
          rewrite((lines) => {
            const changed = lines.map((line) =>
              line.includes('"name":"p0"')
                ? JSON.stringify({ ...(JSON.parse(line) as object), ...change })
                : line,
            );
            const content = changed.slice(0, -1).map((line) => `${line}\n`);
            const sha256 = createHash('sha256').update(content.join('')).digest('hex');
            return [...changed.slice(0, -1), JSON.stringify({ objects: content.length - 1, sha256 })];
          }),
        message: 'nothing was changed',
      })),
      { name: 'that is empty', spoil: () => writeFileSync(file, gzipSync('')), message: 'it is empty' },
      {
        name: 'that is a folder',
        spoil: () => {
          rmSync(file);
          mkdirSync(file);
        },
        message: `is a folder, not a regular file`,
      },
      { name: 'that is not there', spoil: () => rmSync(file), message: 'cannot be read: ENOENT' },
    ])('from a file $name changes nothing', async ({ message, spoil }) => {
      spoil();
      const before = await other.list('pods');
      const error = await restore(other, file).catch((e: unknown) => e);
      expect(error).toBeInstanceOf(BackupFileError);
      expect((error as Error).message).toContain(message);
      expect(await other.list('pods')).toEqual(before);
    });
  });
});
