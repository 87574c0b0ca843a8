import type { IVolume } from 'kubernetes-models/v1/Volume';
import { ownField } from '../../../kubernetes/index.js';
import type { FieldError } from '../kind-definition.js';
import { duplicate, forbidden, required } from '../validation/field-errors.js';
import { checkDns1123Label } from '../validation/syntax.js';
import { validateSyntax } from '../validation/words.js';

/** What a source cannot do without. Source: validateVolumeSource in pkg/apis/core/validation/validation.go. */
const REQUIRED_FIELDS: Readonly<Record<string, readonly string[]>> = {
  configMap: ['name'],
  secret: ['secretName'],
  hostPath: ['path'],
  persistentVolumeClaim: ['claimName'],
  nfs: ['server', 'path'],
  gitRepo: ['repository'],
  csi: ['driver'],
  gcePersistentDisk: ['pdName'],
  awsElasticBlockStore: ['volumeID'],
  glusterfs: ['endpoints', 'path'],
  cinder: ['volumeID'],
  flexVolume: ['driver'],
};

/** @returns the names of the volumes that containers may mount */
export function validateVolumes(
  volumes: readonly IVolume[] | undefined,
  path: string,
  errors: FieldError[],
): ReadonlySet<string> {
  const names = new Set<string>();
  volumes?.forEach((volume, index) => {
    const at = `${path}[${index}]`;
    validateSource(volume, at, errors);
    if (!volume.name) errors.push(required(`${at}.name`));
    else if (names.has(volume.name)) errors.push(duplicate(`${at}.name`, volume.name));
    else validateSyntax(volume.name, checkDns1123Label, `${at}.name`, errors);
    names.add(volume.name);
  });
  return names;
}

function validateSource(volume: IVolume, path: string, errors: FieldError[]): void {
  const fields = volume as unknown as Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  const sources = Object.keys(fields).filter((name) => name !== 'name');
  if (sources.length === 0) errors.push(required(path, 'must specify a volume type'));
  sources.forEach((source, index) => {
    if (index > 0) {
      errors.push(forbidden(`${path}.${source}`, 'may not specify more than 1 volume type'));
      return;
    }
    for (const field of ownField(REQUIRED_FIELDS, source) ?? []) {
      if (!fields[source]?.[field]) errors.push(required(`${path}.${source}.${field}`));
    }
  });
}
