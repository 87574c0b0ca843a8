import { checkDns1123Label, checkDns1123Subdomain, goQuote } from '@rollkeeper/machinery/kubernetes';
import type { Decoded } from '@rollkeeper/machinery/kubernetes';
import type { Volume } from '@rollkeeper/machinery/types/core-v1';
import type { FieldError } from '../kind-definition.js';
import { duplicate, invalid, required } from '../validation/field-errors.js';
import { validateSyntax } from '../validation/words.js';
import type { KnownVolumes } from './validate-mounts.js';
import { moreThanOneSource, ruleField } from '../volumes/source-fields.js';
import { SOURCE_RULES } from './volume-source-rules.js';

/**
 * @param podName by which claims are named that are made for the pod; a template has none
 * @returns the volumes that containers may mount
 */
export function validateVolumes(
  volumes: readonly Decoded<Volume>[] | undefined,
  path: string,
  errors: FieldError[],
  podName = '',
): KnownVolumes {
  const known = new Map<string, Decoded<Volume>>();
  volumes?.forEach((volume, index) => {
    const at = `${path}[${index}]`;
    const before = errors.length;
    validateSource(volume, at, errors, podName);
    if (!volume.name) errors.push(required(`${at}.name`));
    else validateSyntax(volume.name, checkDns1123Label, `${at}.name`, errors);
    if (volume.name && known.has(volume.name)) errors.push(duplicate(`${at}.name`, volume.name));
    // Mounts of a volume that is wrong itself are complained about as well.
    if (volume.name && errors.length === before) known.set(volume.name, volume);
  });
  return known;
}

/** Source: validateVolumeSource in pkg/apis/core/validation/validation.go, which looks for one source after the other. */
function validateSource(volume: Decoded<Volume>, path: string, errors: FieldError[], podName: string): void {
  const sources = SOURCES.filter((name) => volume[name] !== undefined);
  if (sources.length === 0) errors.push(required(path, 'must specify a volume type'));
  sources.forEach((source, index) => {
    if (index > 0) {
      errors.push(moreThanOneSource(path, source));
      return;
    }
    const validate = SOURCE_RULES[source] as (source: unknown, path: string, errors: FieldError[]) => void;
    validate(volume[source] ?? {}, `${path}.${ruleField(source)}`, errors);
    if (source === 'ephemeral' && podName !== '') validateClaimName(podName, volume.name, path, errors);
  });
}

/** In the order in which a genuine server looks for them. */
const SOURCES = Object.keys(SOURCE_RULES) as (keyof typeof SOURCE_RULES)[];

function validateClaimName(
  podName: string,
  volume: string | undefined,
  path: string,
  errors: FieldError[],
): void {
  if (!volume) return;
  const claim = `${podName}-${volume}`;
  for (const problem of checkDns1123Subdomain(claim))
    errors.push(invalid(`${path}.name`, volume, `PVC name ${goQuote(claim)}: ${problem}`));
}
