import {
  findCondition,
  checkDns1035Label,
  checkDns1123Subdomain,
  checkPathSegment,
  checkPortNumber,
} from '@rollkeeper/machinery/kubernetes';
import type { APIService, APIServiceSpec } from '@rollkeeper/machinery/types/apiregistration-v1';
import type { Decoded, DecodedObject, ObjectMeta } from '@rollkeeper/machinery/kubernetes';
import { AGE, NAME, printed, shown } from '../common/printed-columns.js';
import { defineKind } from '../define-kind.js';
import { ALL_BUT_STATUS } from '../kind-definition.js';
import type { FieldError } from '../kind-definition.js';
import { invalid, required } from '../validation/field-errors.js';
import { validateSyntax } from '../validation/words.js';

type ApiService = DecodedObject<APIService>;

/**
 * Source: ValidateAPIService in kube-aggregator/pkg/apis/apiregistration/validation. Requests are not forwarded to
 * other servers here.
 */
export const API_SERVICE_KIND = defineKind<ApiService>({
  type: {
    group: 'apiregistration.k8s.io',
    version: 'v1',
    resource: 'apiservices',
    kind: 'APIService',
    namespaced: false,
  },
  ownershipFrom: 'creation',
  finalizerNames: 'any',
  schema: 'io.k8s.kube-aggregator.pkg.apis.apiregistration.v1.APIService',
  categories: ['api-extensions'],
  keptWithStatus: ALL_BUT_STATUS,
  hasStatus: true,
  checkName: checkPathSegment,
  needsVersionOnUpdate: true,
  ...printed<ApiService>(
    NAME,
    shown('Service', ({ spec }) =>
      spec?.service ? `${spec.service.namespace ?? ''}/${spec.service.name ?? ''}` : 'Local',
    ),
    shown('Available', ({ status }) => {
      const condition = findCondition(status?.conditions, 'Available');
      if (!condition) return 'Unknown';
      return condition.status === 'True' ? 'True' : `${condition.status} (${condition.reason ?? ''})`;
    }),
    AGE,
  ),
  applyDefaults({ spec }) {
    if (spec?.service) spec.service.port ??= 443;
  },
  prepareForCreate(object) {
    object.status = object.spec?.service ? {} : { conditions: [localAvailability(object)] };
  },
  validate(object, errors) {
    const { name = '' }: Partial<ObjectMeta> = object.metadata;
    validateSpec(name, object.spec ?? {}, errors);
  },
});

/**
 * An API that the server serves itself is available from the beginning. That of a Service is looked at later:
 * `ExtensionGroups`.
 */
function localAvailability({ metadata }: ApiService) {
  return {
    type: 'Available',
    status: 'True',
    reason: 'Local',
    message: 'Local APIServices are always available',
    ...(metadata.creationTimestamp && { lastTransitionTime: metadata.creationTimestamp }),
  };
}

function validateSpec(name: string, spec: Decoded<APIServiceSpec>, errors: FieldError[]): void {
  const { group = '', version = '', service, groupPriorityMinimum = 0, versionPriority = 0 } = spec;
  if (checkPathSegment(name).length === 0 && name !== '' && name !== `${version}.${group}`)
    errors.push(
      invalid('metadata.name', name, `must be \`spec.version+"."+spec.group\`: "${version}.${group}"`),
    );
  // The core group has no name.
  if (group === '' && version !== 'v1')
    errors.push(required('spec.group', 'only v1 may have an empty group and it better be legacy kube'));
  if (group !== '') validateSyntax(group, checkDns1123Subdomain, 'spec.group', errors);
  validateSyntax(version, checkDns1035Label, 'spec.version', errors);
  if (groupPriorityMinimum <= 0 || groupPriorityMinimum > 20_000)
    errors.push(
      invalid('spec.groupPriorityMinimum', groupPriorityMinimum, 'must be positive and less than 20000'),
    );
  if (versionPriority <= 0 || versionPriority > 1000)
    errors.push(invalid('spec.versionPriority', versionPriority, 'must be positive and less than 1000'));
  const hasBundle = !!spec.caBundle;
  if (!service) {
    if (hasBundle)
      errors.push(invalid('spec.caBundle', `${hasBundle}`, 'local APIServices may not have a caBundle'));
    if (spec.insecureSkipTLSVerify)
      errors.push(
        invalid('spec.insecureSkipTLSVerify', true, 'local APIServices may not have insecureSkipTLSVerify'),
      );
    return;
  }
  if (!service.namespace) errors.push(required('spec.service.namespace'));
  if (!service.name) errors.push(required('spec.service.name'));
  const port = service.port ?? 0;
  for (const problem of checkPortNumber(port))
    errors.push(invalid('spec.service.port', port, `port is not valid: ${problem}`));
  if (spec.insecureSkipTLSVerify && hasBundle)
    errors.push(invalid('spec.insecureSkipTLSVerify', true, 'may not be true if caBundle is present'));
}
