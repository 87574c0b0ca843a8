import type { Decoded } from '@rollkeeper/machinery/kubernetes';
import type { ProjectedVolumeSource, VolumeProjection } from '@rollkeeper/machinery/types/core-v1';
import type { FieldError } from '../kind-definition.js';
import { forbidden, invalid, required } from '../validation/field-errors.js';
import { validateFileMode, validateLocalFile } from '../validation/paths.js';
import { validateDownwardFile, validateItems } from './validate-volume-files.js';

const MIN_TOKEN_SECONDS = 600;
const MAX_TOKEN_SECONDS = 2 ** 32;

/** Source: validateProjectedVolumeSource in pkg/apis/core/validation/validation.go. */
export function validateProjected(
  { defaultMode, sources }: Decoded<ProjectedVolumeSource>,
  path: string,
  errors: FieldError[],
): void {
  validateFileMode(defaultMode, `${path}.defaultMode`, errors);
  const files = new Set<string>();
  sources?.forEach((source, index) => {
    const at = `${path}.sources[${index}]`;
    validateSource(source, at, path, errors);
    for (const [file, shown] of filesOf(source)) {
      if (file !== '' && files.has(file)) errors.push(invalid(path, shown, 'conflicting duplicate paths'));
      files.add(file);
    }
    if (Object.keys(source).length > 1)
      errors.push(forbidden(at, 'may not specify more than 1 volume type per source'));
  });
}

function validateSource(
  { secret, configMap, downwardAPI, serviceAccountToken, clusterTrustBundle }: Decoded<VolumeProjection>,
  path: string,
  volume: string,
  errors: FieldError[],
): void {
  for (const [field, source] of Object.entries({ secret, configMap })) {
    if (!source) continue;
    if (!source.name) errors.push(required(`${path}.${field}.name`));
    validateItems(source.items, `${path}.${field}.items`, errors);
  }
  downwardAPI?.items?.forEach((item) => validateDownwardFile(item, `${path}.downwardAPI`, errors));
  if (serviceAccountToken) {
    const { expirationSeconds = MIN_TOKEN_SECONDS, path: file } = serviceAccountToken;
    const at = `${path}.serviceAccountToken`;
    if (expirationSeconds < MIN_TOKEN_SECONDS)
      errors.push(
        invalid(
          `${at}.expirationSeconds`,
          expirationSeconds,
          'may not specify a duration less than 10 minutes',
        ),
      );
    if (expirationSeconds > MAX_TOKEN_SECONDS)
      errors.push(
        invalid(
          `${at}.expirationSeconds`,
          expirationSeconds,
          'may not specify a duration larger than 2^32 seconds',
        ),
      );
    // The path is the one of the volume in messages.
    if (!file) errors.push(required(`${volume}.path`));
    else validateLocalFile(file, `${volume}.path`, errors);
  }
  if (clusterTrustBundle && !clusterTrustBundle.path)
    errors.push(required(`${path}.clusterTrustBundle.path`));
}

/** The files, and what messages show of one that is there twice: the name of what it is from. */
function filesOf({
  secret,
  configMap,
  downwardAPI,
}: Decoded<VolumeProjection>): (readonly [file: string, shown: string])[] {
  const named = [secret, configMap].flatMap((source) =>
    (source?.items ?? []).map(({ path = '' }) => [path, source?.name ?? ''] as const),
  );
  return [...named, ...(downwardAPI?.items ?? []).map(({ path = '' }) => [path, path] as const)];
}
