import type { Decoded } from '@rollkeeper/machinery/kubernetes';
import type {
  ConfigMapProjection,
  ProjectedVolumeSource,
  SecretProjection,
  VolumeProjection,
} from '@rollkeeper/machinery/types/core-v1';
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
    const place = (file = '', shown = file): void => {
      if (file !== '' && files.has(file)) errors.push(invalid(path, shown, 'conflicting duplicate paths'));
      files.add(file);
    };
    // Messages show the name of the Secret or ConfigMap, and of a field the file.
    const { configMap, downwardAPI, secret } = source;
    for (const item of secret?.items ?? []) place(item.path, secret?.name ?? '');
    for (const item of configMap?.items ?? []) place(item.path, configMap?.name ?? '');
    for (const item of downwardAPI?.items ?? []) place(item.path);
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
  if (secret) validateKeys(secret, `${path}.secret`, errors);
  if (configMap) validateKeys(configMap, `${path}.configMap`, errors);
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

function validateKeys(
  { name, items }: Decoded<ConfigMapProjection | SecretProjection>,
  path: string,
  errors: FieldError[],
): void {
  if (!name) errors.push(required(`${path}.name`));
  validateItems(items, `${path}.items`, errors);
}
