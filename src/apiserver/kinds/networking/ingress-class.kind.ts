import { FIELD_IMMUTABLE, checkDns1123Label } from '@rollkeeper/machinery/kubernetes';
import type {
  IngressClass as IIngressClass,
  IngressClassSpec,
} from '@rollkeeper/machinery/types/networking-v1';
import type { Decoded, DecodedObject } from '@rollkeeper/machinery/kubernetes';
import { AGE, NAME, printed, shown } from '../common/printed-columns.js';
import { defineKind } from '../define-kind.js';
import type { FieldError } from '../kind-definition.js';
import { forbidden, invalid, notSupported, required, tooLong } from '../validation/field-errors.js';
import { validateDomainPath } from '../validation/paths.js';
import { validateSyntax } from '../validation/words.js';
import { validateLocalReference } from './local-reference.js';

type IngressClass = DecodedObject<IIngressClass>;

const MAX_CONTROLLER = 250;
const SCOPES = ['Cluster', 'Namespace'];

/** Source: ValidateIngressClass in pkg/apis/networking/validation/validation.go. */
export const INGRESS_CLASS_KIND = defineKind<IngressClass>({
  type: {
    group: 'networking.k8s.io',
    version: 'v1',
    resource: 'ingressclasses',
    kind: 'IngressClass',
    namespaced: false,
  },
  ownershipFrom: 'creation',
  schema: 'io.k8s.api.networking.v1.IngressClass',
  generationOf: ({ spec }) => spec,
  ...printed<IngressClass>(
    NAME,
    shown('Controller', ({ spec }) => spec?.controller ?? ''),
    shown('Parameters', ({ spec }) => {
      const parameters = spec?.parameters;
      if (!parameters) return '<none>';
      const group = parameters.apiGroup ? `.${parameters.apiGroup}` : '';
      return `${parameters.kind}${group}/${parameters.name}`;
    }),
    AGE,
  ),
  applyDefaults({ spec }) {
    if (spec?.parameters) spec.parameters.scope ??= 'Cluster';
  },
  validate: ({ spec = {} }, errors) => validateSpec(spec, errors),
  validateUpdate(object, old, _subresource, errors) {
    if (object.spec?.controller !== old.spec?.controller)
      errors.push(invalid('spec.controller', object.spec?.controller ?? '', FIELD_IMMUTABLE));
    validateSpec(object.spec ?? {}, errors);
  },
});

function validateSpec(spec: Decoded<IngressClassSpec>, errors: FieldError[]): void {
  const { controller = '' } = spec;
  if (Buffer.byteLength(controller) > MAX_CONTROLLER) errors.push(tooLong('spec.controller', MAX_CONTROLLER));
  validateDomainPath(controller, 'spec.controller', errors);
  validateParameters(spec, errors);
}

function validateParameters({ parameters }: Decoded<IngressClassSpec>, errors: FieldError[]): void {
  if (!parameters) return;
  const path = 'spec.parameters';
  const { scope, namespace } = parameters;
  validateLocalReference(parameters, path, errors);
  if (scope === undefined) {
    errors.push(required(`${path}.scope`));
    return;
  }
  if (!SCOPES.includes(scope)) errors.push(notSupported(`${path}.scope`, scope, SCOPES));
  if (scope === 'Namespace') {
    if (namespace === undefined)
      errors.push(required(`${path}.namespace`, "`parameters.scope` is set to 'Namespace'"));
    else validateSyntax(namespace, checkDns1123Label, `${path}.namespace`, errors);
  }
  if (scope === 'Cluster' && namespace !== undefined)
    errors.push(forbidden(`${path}.namespace`, "`parameters.scope` is set to 'Cluster'"));
}
