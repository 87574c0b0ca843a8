import { checkPortName, checkPortNumber } from '@rollkeeper/machinery/kubernetes';
import type { Decoded } from '@rollkeeper/machinery/kubernetes';
import type { Container, LifecycleHandler, Probe } from '@rollkeeper/machinery/types/core-v1';
import type { FieldError } from '../kind-definition.js';
import { forbidden, invalid, notSupported, required } from '../validation/field-errors.js';
import { validateNonNegative } from '../validation/numbers.js';
import { validateSyntax } from '../validation/words.js';

/** The fields of a container that hold probes. */
export const PROBES = ['livenessProbe', 'readinessProbe', 'startupProbe'] as const;

const HANDLERS = ['exec', 'httpGet', 'tcpSocket', 'grpc', 'sleep'] as const;
type Handler = Pick<Decoded<Probe>, 'exec' | 'httpGet' | 'tcpSocket' | 'grpc'> &
  Pick<Decoded<LifecycleHandler>, 'sleep'>;

const SECONDS = [
  'initialDelaySeconds',
  'timeoutSeconds',
  'periodSeconds',
  'successThreshold',
  'failureThreshold',
] as const;

/** Source: validateProbe and its callers in pkg/apis/core/validation/validation.go. */
export function validateContainerProbes(
  container: Decoded<Container>,
  path: string,
  errors: FieldError[],
): void {
  const { livenessProbe, readinessProbe, startupProbe } = container;
  if (livenessProbe) {
    validateProbe(livenessProbe, `${path}.livenessProbe`, errors);
    validateSingleSuccess(livenessProbe, `${path}.livenessProbe`, errors);
  }
  if (readinessProbe) {
    validateProbe(readinessProbe, `${path}.readinessProbe`, errors);
    if (readinessProbe.terminationGracePeriodSeconds !== undefined) {
      errors.push(
        invalid(
          `${path}.readinessProbe.terminationGracePeriodSeconds`,
          readinessProbe.terminationGracePeriodSeconds,
          'must not be set for readinessProbes',
        ),
      );
    }
  }
  if (startupProbe) {
    validateProbe(startupProbe, `${path}.startupProbe`, errors);
    validateSingleSuccess(startupProbe, `${path}.startupProbe`, errors);
  }
}

/** @param graceSeconds how long the pod has to stop; below zero: that is wrong itself */
export function validateLifecycle(
  container: Decoded<Container>,
  graceSeconds: number,
  path: string,
  errors: FieldError[],
): void {
  const { postStart, preStop } = container.lifecycle ?? {};
  for (const [name, handler] of Object.entries({ postStart, preStop })) {
    if (!handler) continue;
    const at = `${path}.lifecycle.${name}`;
    validateHandler(handler, at, errors);
    const isOnly = !handler.exec && !handler.httpGet && !handler.tcpSocket;
    if (handler.sleep && isOnly)
      validateSleep(handler.sleep.seconds ?? 0, graceSeconds, `${at}.sleep`, errors);
  }
}

/** Source: validateSleepAction. */
function validateSleep(
  seconds: number | bigint,
  graceSeconds: number,
  path: string,
  errors: FieldError[],
): void {
  if (graceSeconds >= 0 && (seconds < 0 || seconds > graceSeconds))
    errors.push(
      invalid(
        path,
        seconds,
        `must be non-negative and less than terminationGracePeriodSeconds (${graceSeconds})`,
      ),
    );
}

function validateProbe(probe: Decoded<Probe>, path: string, errors: FieldError[]): void {
  validateHandler(probe, path, errors);
  validateNonNegative(probe, SECONDS, path, errors);
  const grace = probe.terminationGracePeriodSeconds;
  if (grace !== undefined && grace <= 0 && !path.endsWith('.readinessProbe'))
    errors.push(invalid(`${path}.terminationGracePeriodSeconds`, grace, 'must be greater than 0'));
}

function validateSingleSuccess(probe: Decoded<Probe>, path: string, errors: FieldError[]): void {
  if (probe.successThreshold !== 1) {
    errors.push(invalid(`${path}.successThreshold`, probe.successThreshold ?? 0, 'must be 1'));
  }
}

function validateHandler(handler: Handler, path: string, errors: FieldError[]): void {
  const present = HANDLERS.filter((name) => handler[name]);
  if (present.length === 0) errors.push(required(path, 'must specify a handler type'));
  present.forEach((name, index) => {
    if (index > 0) {
      errors.push(forbidden(`${path}.${name}`, 'may not specify more than 1 handler type'));
    } else validateAction(handler, `${path}.${name}`, errors);
  });
}

function validateAction(
  { exec, httpGet, tcpSocket, grpc }: Handler,
  path: string,
  errors: FieldError[],
): void {
  if (exec) {
    if (!exec.command?.length) errors.push(required(`${path}.command`));
  } else if (httpGet) {
    if (!httpGet.path) errors.push(required(`${path}.path`));
    httpGet.httpHeaders?.forEach(({ name }) => {
      if (!/^[-A-Za-z0-9]+$/.test(name ?? ''))
        errors.push(
          invalid(
            `${path}.httpHeaders`,
            name ?? '',
            "a valid HTTP header must consist of alphanumeric characters or '-' (e.g. 'X-Header-Name', regex used for validation is '[-A-Za-z0-9]+')",
          ),
        );
    });
    validatePort(httpGet.port, `${path}.port`, errors);
    if (!['HTTP', 'HTTPS'].includes(httpGet.scheme ?? '')) {
      errors.push(notSupported(`${path}.scheme`, httpGet.scheme ?? '', ['HTTP', 'HTTPS']));
    }
  } else if (tcpSocket) validatePort(tcpSocket.port, `${path}.port`, errors);
  else if (grpc) validatePort(grpc.port, `${path}.port`, errors);
}

function validatePort(port: string | number | undefined, field: string, errors: FieldError[]): void {
  if (typeof port === 'string') validateSyntax(port, checkPortName, field, errors);
  else validateSyntax(port ?? 0, checkPortNumber, field, errors);
}
