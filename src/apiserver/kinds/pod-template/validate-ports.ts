import { checkPortName, checkPortNumber } from '@rollkeeper/machinery/kubernetes';
import type { Decoded } from '@rollkeeper/machinery/kubernetes';
import type { Container, ContainerPort } from '@rollkeeper/machinery/types/core-v1';
import type { FieldError } from '../kind-definition.js';
import { duplicate, required } from '../validation/field-errors.js';
import { validateSyntax, validateWords } from '../validation/words.js';
import type { WordRule } from '../validation/words.js';

const WORDS: readonly WordRule[] = [{ field: 'protocol', words: ['SCTP', 'TCP', 'UDP'], isRequired: true }];

/** Source: validateContainerPorts in pkg/apis/core/validation/validation.go. */
export function validatePorts(
  ports: readonly Decoded<ContainerPort>[] | undefined,
  path: string,
  errors: FieldError[],
): void {
  const names = new Set<string>();
  ports?.forEach((port, index) => {
    const at = `${path}[${index}]`;
    if (port.name) {
      const problems = checkPortName(port.name);
      if (problems.length > 0) validateSyntax(port.name, () => problems, `${at}.name`, errors);
      else if (names.has(port.name)) errors.push(duplicate(`${at}.name`, port.name));
      names.add(port.name);
    }
    if (!port.containerPort) errors.push(required(`${at}.containerPort`));
    else validateSyntax(port.containerPort, checkPortNumber, `${at}.containerPort`, errors);
    if (port.hostPort) validateSyntax(port.hostPort, checkPortNumber, `${at}.hostPort`, errors);
    validateWords(port, WORDS, at, errors);
  });
}

/** Two containers of one pod cannot have the same port of the host. */
export function validateHostPortConflicts(
  containers: readonly Decoded<Container>[],
  path: string,
  errors: FieldError[],
): void {
  const taken = new Set<string>();
  containers.forEach((container, index) => {
    container.ports?.forEach((port, at) => {
      if (!port.hostPort) return;
      const place = `${port.protocol ?? 'TCP'}/${port.hostIP ?? ''}/${port.hostPort}`;
      if (taken.has(place)) errors.push(duplicate(`${path}[${index}].ports[${at}].hostPort`, place));
      taken.add(place);
    });
  });
}
