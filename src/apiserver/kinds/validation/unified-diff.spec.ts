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
