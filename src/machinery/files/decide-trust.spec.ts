import { describe, expect, it } from 'vitest';
import type { FileFacts, ProcessOwner } from './decide-trust.js';
import { mountPointsIn } from './process-owner.js';
import { isShared, judgeFile, judgeFolder, judgeLink, judgeNamedFile } from './decide-trust.js';

const US: ProcessOwner = { uid: 1000, groups: new Set([1000, 100]) };
const IN_POD: ProcessOwner = { uid: 1000, groups: new Set([1000, 2000]) };
const facts = (uid: number, gid: number, mode: number): FileFacts => ({ uid, gid, mode });

describe('whether a folder can be trusted', () => {
  it.each([
    { name: 'our own, for us alone', folder: facts(1000, 1000, 0o700) },
    { name: 'our own, which others may read', folder: facts(1000, 100, 0o755) },
    { name: 'our own, which our private group may change', folder: facts(1000, 1000, 0o775) },
    { name: "root's", folder: facts(0, 0, 0o755) },
    { name: "root's, which its group may change", folder: facts(0, 0, 0o775) },
  ])('$name: it can', ({ folder }) => expect(judgeFolder(folder, US, 'machine')).toBeUndefined());

  it.each([
    { name: "another user's", folder: facts(1001, 1001, 0o700), distrust: 'foreign' },
    { name: "another user's of our group", folder: facts(1001, 100, 0o770), distrust: 'foreign' },
    { name: 'our own, which everybody may change', folder: facts(1000, 1000, 0o777), distrust: 'writable' },
    { name: 'the same with the sticky bit', folder: facts(1000, 1000, 0o1777), distrust: 'writable' },
    {
      name: 'our own, which a shared group may change',
      folder: facts(1000, 100, 0o770),
      distrust: 'writable',
    },
    { name: "root's, which everybody may change", folder: facts(0, 0, 0o1777), distrust: 'writable' },
    { name: "root's, which a group may change", folder: facts(0, 100, 0o2775), distrust: 'writable' },
  ])('$name: it cannot', ({ distrust, folder }) => expect(judgeFolder(folder, US, 'machine')).toBe(distrust));

  it.each([
    { name: 'an empty volume', folder: facts(0, 0, 0o777) },
    { name: 'an empty volume with an fsGroup', folder: facts(0, 2000, 0o2777) },
    { name: 'a volume of a group that we are in', folder: facts(0, 2000, 0o2775) },
    { name: 'a volume of a former user, of a group that we are in', folder: facts(1234, 2000, 0o2770) },
    { name: "the image's own folder", folder: facts(1000, 1000, 0o755) },
  ])('$name, as a volume: it can', ({ folder }) =>
    expect(judgeFolder(folder, IN_POD, 'volume')).toBeUndefined(),
  );

  it.each([
    { name: "another user's", folder: facts(1001, 1001, 0o755), distrust: 'foreign' },
    { name: 'our own, which everybody may change', folder: facts(1000, 1000, 0o777), distrust: 'writable' },
    { name: "root's with the sticky bit", folder: facts(0, 0, 0o1777), distrust: 'writable' },
    {
      name: 'a volume of a group that we are not in',
      folder: facts(1234, 3000, 0o2775),
      distrust: 'foreign',
    },
  ])('$name, as a volume: it cannot', ({ distrust, folder }) =>
    expect(judgeFolder(folder, IN_POD, 'volume')).toBe(distrust),
  );
});

describe('whether a folder in a volume can be trusted', () => {
  it('can where Kubernetes has opened it to the group of the volume, and not where everybody may change it', () => {
    expect(judgeFolder(facts(1000, 2000, 0o2770), IN_POD, 'in-volume')).toBeUndefined();
    expect(judgeFolder(facts(0, 0, 0o777), IN_POD, 'in-volume')).toBe('writable');
    expect(judgeFolder(facts(0, 0, 0o777), IN_POD, 'machine')).toBe('writable');
  });
});

describe('the places of volumes', () => {
  it('are what the system lists, but for the root', () => {
    const text = [
      '22 1 0:21 / / rw,relatime - overlay overlay rw',
      '30 22 8:1 /var/lib/pods/x /data rw - ext4 /dev/sda1 rw',
      String.raw`31 22 0:40 / /with\040space rw - tmpfs tmpfs rw`,
      '',
    ];
    expect([...mountPointsIn(text.join('\n'))]).toEqual(['/data', '/with space']);
  });
});

describe('whether a file can be trusted', () => {
  it('can where it is ours or root, and nobody else may change it', () => {
    for (const mode of [0o600, 0o640, 0o644, 0o660])
      expect(judgeFile(facts(1000, 1000, mode), US, 'machine')).toBeUndefined();
    expect(judgeFile(facts(0, 0, 0o444), US, 'machine')).toBeUndefined();
  });

  it('cannot where it is of another user, or others may change it', () => {
    expect(judgeFile(facts(1001, 1000, 0o600), US, 'machine')).toBe('foreign');
    expect(judgeFile(facts(1000, 1000, 0o606), US, 'machine')).toBe('writable');
    expect(judgeFile(facts(1000, 100, 0o660), US, 'machine')).toBe('writable');
    expect(judgeFile(facts(0, 0, 0o666), IN_POD, 'in-volume')).toBe('writable');
  });

  it('can where Kubernetes has opened it to the group of a volume', () => {
    expect(judgeFile(facts(1000, 2000, 0o660), IN_POD, 'in-volume')).toBeUndefined();
    expect(judgeFile(facts(1234, 2000, 0o660), IN_POD, 'in-volume')).toBeUndefined();
    expect(judgeFile(facts(1000, 2000, 0o660), US, 'machine')).toBe('writable');
  });

  it('may have any owner where somebody has named it, and still must not be one that others may change', () => {
    expect(judgeNamedFile(facts(1001, 1001, 0o640), US, 'machine')).toBeUndefined();
    expect(judgeNamedFile(facts(1001, 1001, 0o666), US, 'machine')).toBe('writable');
    expect(judgeNamedFile(facts(1001, 100, 0o660), US, 'machine')).toBe('writable');
  });
});

describe('whether a symbolic link can be followed', () => {
  it('can where we or root made it', () => {
    expect(judgeLink(facts(1000, 1000, 0o777), US)).toBeUndefined();
    expect(judgeLink(facts(0, 0, 0o777), US)).toBeUndefined();
    expect(judgeLink(facts(1001, 1001, 0o777), US)).toBe('link');
  });
});

describe('whether a folder is shared', () => {
  it.each([
    [facts(1000, 1000, 0o700), false],
    [facts(1000, 1000, 0o750), false],
    [facts(1000, 100, 0o750), true],
    [facts(1000, 1000, 0o701), true],
    [facts(1000, 1000, 0o755), true],
    [facts(0, 0, 0o700), true],
  ])('%o: %s', (folder, shared) => expect(isShared(folder, US)).toBe(shared));
});
