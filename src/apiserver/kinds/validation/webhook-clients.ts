import { checkDns1123Subdomain, checkPortNumber, goQuote } from '@rollkeeper/machinery/kubernetes';
import type { FieldError } from '../kind-definition.js';
import { invalid, required } from './field-errors.js';

/** The address of a webhook. Source: k8s.io/apiserver/pkg/util/webhook/validation.go. */
interface WebhookClient {
  readonly url?: string;
  readonly service?: {
    readonly namespace?: string;
    readonly name?: string;
    readonly path?: string;
    readonly port?: number;
  };
}

const URL_PARTS = /^(?:([A-Za-z][A-Za-z0-9+.-]*):)?(?:\/\/([^/?#]*))?[^?#]*(\?[^#]*)?(#[^]*)?/;
const FORM = 'desired format: https://host[/path]';

export function validateWebhookClient(
  { url, service }: WebhookClient,
  path: string,
  errors: FieldError[],
): void {
  if ((url === undefined) === (service === undefined)) {
    errors.push(required(path, 'exactly one of url or service is required'));
    return;
  }
  if (url !== undefined) validateUrl(url, `${path}.url`, errors);
  if (service) validateService(service, `${path}.service`, errors);
}

function validateUrl(url: string, field: string, errors: FieldError[]): void {
  const [escape] = /%(?![\da-fA-F]{2}).{0,2}/.exec(url) ?? [];
  if (escape !== undefined) {
    const problem = `parse ${goQuote(url)}: invalid URL escape ${goQuote(escape)}`;
    errors.push(required(field, `url must be a valid URL: ${problem}; ${FORM}`));
    return;
  }
  const [, scheme = '', authority = '', query, fragment] = URL_PARTS.exec(url) ?? [];
  const at = authority.lastIndexOf('@');
  if (scheme.toLowerCase() !== 'https')
    errors.push(invalid(field, scheme, `'https' is the only allowed URL scheme; ${FORM}`));
  if (authority.slice(at + 1) === '') errors.push(invalid(field, '', `host must be specified; ${FORM}`));
  if (at >= 0)
    errors.push(
      invalid(field, authority.slice(0, at), `user information is not permitted in the URL; ${FORM}`),
    );
  if (fragment !== undefined)
    errors.push(invalid(field, fragment.slice(1), `fragments are not permitted in the URL; ${FORM}`));
  if (query !== undefined)
    errors.push(invalid(field, query.slice(1), `query parameters are not permitted in the URL; ${FORM}`));
}

function validateService(
  { namespace, name, path: route, port }: NonNullable<WebhookClient['service']>,
  path: string,
  errors: FieldError[],
): void {
  // The genuine server mixes the two up, and clients compare what it says.
  if (!namespace) errors.push(required(`${path}.name`));
  if (!name) errors.push(required(`${path}.namespace`));
  const problems = checkPortNumber(port ?? 0);
  if (problems.length > 0)
    errors.push(invalid(`${path}.port`, port ?? 0, `port is not valid: ${problems.join(', ')}`));
  if (route) validateRoute(route, `${path}.path`, errors);
}

function validateRoute(route: string, field: string, errors: FieldError[]): void {
  if (route === '/') return;
  if (route === '//') {
    errors.push(invalid(field, route, 'segment[0] may not be empty'));
    return;
  }
  if (!route.startsWith('/')) errors.push(invalid(field, route, "must start with a '/'"));
  // The first character counts as the slash, also where it is none.
  const steps = route.slice(1).replace(/\/$/, '').split('/');
  steps.forEach((step, index) => {
    if (step === '') errors.push(invalid(field, route, `segment[${index}] may not be empty`));
    else
      for (const problem of checkDns1123Subdomain(step))
        errors.push(invalid(field, route, `segment[${index}]: ${problem}`));
  });
}
