import { expect, it } from 'vitest';
import { internalDiff } from './unified-diff.js';

const claim = (spec: object) => ({ accessModes: ['ReadWriteOnce'], ...spec });
const diff = (before: object, after: object): string =>
  internalDiff('core.PersistentVolumeClaimSpec', claim(before), claim(after));

it('shows a change with three lines around it, in the names that Kubernetes has inside', () => {
  expect(diff({ volumeMode: 'Filesystem' }, { volumeMode: 'Block' })).toBe(`@@ -9,7 +9,7 @@
  },
  "VolumeName": "",
  "StorageClassName": null,
- "VolumeMode": "Filesystem",
+ "VolumeMode": "Block",
  "DataSource": null,
  "DataSourceRef": null,
  "VolumeAttributesClassName": null
`);
});

it('shows changes that are far apart in groups of their own, and what goes line by line', () => {
  expect(diff({}, { accessModes: [], volumeAttributesClassName: 'a' })).toBe(`@@ -1,7 +1,5 @@
 {
- "AccessModes": [
-  "ReadWriteOnce"
- ],
+ "AccessModes": [],
  "Selector": null,
  "Resources": {
   "Limits": null,
@@ -12,5 +10,5 @@
  "VolumeMode": null,
  "DataSource": null,
  "DataSourceRef": null,
- "VolumeAttributesClassName": null
+ "VolumeAttributesClassName": "a"
 }
`);
});

it('is nothing where nothing differs', () => {
  expect(diff({}, {})).toBe('');
});

it('compares no longer texts line by line: all of them is shown as changed', () => {
  const labels = Object.fromEntries(Array.from({ length: 2000 }, (_, index) => [`k${index}`, 'x']));
  const shown = diff({ selector: { matchLabels: labels }, volumeName: 'a' }, { volumeName: 'b' });
  expect(shown).toMatch(/^@@ -1,20\d\d \+1,\d+ @@\n-\{\n/);
  expect(shown).toContain('- "VolumeName": "a",\n');
  expect(shown).toContain('+ "VolumeName": "b",\n');
  expect(shown).not.toContain('\n {');
});

it('keeps what is equal in texts of lines that stand in them often', () => {
  const requirements = Array.from({ length: 40 }, () => ({ key: 'a', operator: 'In', values: ['x'] }));
  const selector = { matchExpressions: requirements };
  const shown = diff({ selector, volumeName: 'a' }, { selector, volumeName: 'b' });
  expect(shown.match(/^[-+] /gm)).toHaveLength(2);
});
