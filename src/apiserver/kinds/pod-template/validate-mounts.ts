import type { Decoded } from '@rollkeeper/machinery/kubernetes';
import type { Container, Volume } from '@rollkeeper/machinery/types/core-v1';
import type { FieldError } from '../kind-definition.js';
import { forbidden, invalid, notFound, notSupported, required } from '../validation/field-errors.js';
import { validateLocalPath, validateNoBacksteps } from '../validation/paths.js';

/** The volumes of a pod by name, as far as containers may mount them. */
export type KnownVolumes = ReadonlyMap<string, Decoded<Volume>>;

const PROPAGATION = ['Bidirectional', 'HostToContainer', 'None'];
const RECURSIVE_READ_ONLY = ['Disabled', 'Enabled', 'IfPossible'];

/** Source: ValidateVolumeMounts in pkg/apis/core/validation/validation.go. */
export function validateVolumeMounts(
  container: Decoded<Container>,
  volumes: KnownVolumes,
  path: string,
  errors: FieldError[],
): void {
  const places = new Set<string>();
  const devices = new Set(container.volumeDevices?.map(({ name }) => name));
  const devicePaths = new Set(container.volumeDevices?.map(({ devicePath }) => devicePath));
  container.volumeMounts?.forEach((mount, index) => {
    const at = `${path}.volumeMounts[${index}]`;
    const { name = '', mountPath = '', subPath, subPathExpr, mountPropagation, recursiveReadOnly } = mount;
    if (!name) errors.push(required(`${at}.name`));
    if (!volumes.has(name)) errors.push(notFound(`${at}.name`, name));
    if (!mountPath) errors.push(required(`${at}.mountPath`));
    if (places.has(mountPath)) errors.push(invalid(`${at}.mountPath`, mountPath, 'must be unique'));
    places.add(mountPath);
    if (devices.has(name))
      errors.push(invalid(`${at}.name`, name, 'must not already exist in volumeDevices'));
    if (devicePaths.has(mountPath))
      errors.push(invalid(`${at}.mountPath`, mountPath, 'must not already exist as a path in volumeDevices'));
    if (subPath) validateLocalPath(subPath, `${at}.subPath`, errors);
    if (subPathExpr) {
      if (subPath)
        errors.push(
          invalid(`${at}.subPathExpr`, subPathExpr, 'subPathExpr and subPath are mutually exclusive'),
        );
      validateLocalPath(subPathExpr, `${at}.subPathExpr`, errors);
    }
    if (mountPropagation !== undefined) validatePropagation(mountPropagation, container, path, errors);
    if (recursiveReadOnly !== undefined && !RECURSIVE_READ_ONLY.includes(recursiveReadOnly))
      errors.push(
        notSupported(`${path}.volumeMounts.recursiveReadOnly`, recursiveReadOnly, RECURSIVE_READ_ONLY),
      );
    if ((recursiveReadOnly === 'Enabled' || recursiveReadOnly === 'IfPossible') && !mount.readOnly)
      errors.push(forbidden(`${at}.recursiveReadOnly`, 'may only be specified when readOnly is true'));
  });
}

function validatePropagation(
  propagation: string,
  { securityContext }: Decoded<Container>,
  path: string,
  errors: FieldError[],
): void {
  // In messages there is no index.
  const field = `${path}.volumeMounts.mountPropagation`;
  if (!PROPAGATION.includes(propagation)) errors.push(notSupported(field, propagation, PROPAGATION));
  if (propagation === 'Bidirectional' && !securityContext?.privileged)
    errors.push(
      forbidden(field, 'Bidirectional mount propagation is available only to privileged containers'),
    );
}

/** Source: ValidateVolumeDevices. */
export function validateVolumeDevices(
  { volumeDevices }: Decoded<Container>,
  volumes: KnownVolumes,
  path: string,
  errors: FieldError[],
): void {
  const names = new Set<string>();
  const places = new Set<string>();
  volumeDevices?.forEach(({ name = '', devicePath = '' }, index) => {
    const at = `${path}.volumeDevices[${index}]`;
    if (!name) errors.push(required(`${at}.name`));
    if (names.has(name)) errors.push(invalid(`${at}.name`, name, 'must be unique'));
    const volume = volumes.get(name);
    if (volume && !volume.persistentVolumeClaim && !volume.ephemeral)
      errors.push(
        invalid(
          `${at}.name`,
          name,
          'can only use volume source type of PersistentVolumeClaim or Ephemeral for block mode',
        ),
      );
    if (!volume) errors.push(notFound(`${at}.name`, name));
    if (!devicePath) errors.push(required(`${at}.devicePath`));
    else validateNoBacksteps(devicePath, `${at}.devicePath`, errors);
    if (places.has(devicePath)) errors.push(invalid(`${at}.devicePath`, devicePath, 'must be unique'));
    names.add(name);
    places.add(devicePath);
  });
}
