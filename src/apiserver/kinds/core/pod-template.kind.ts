import type { PodTemplate as IPodTemplate } from '@rollkeeper/machinery/types/core-v1';
import type { DecodedObject } from '@rollkeeper/machinery/kubernetes';
import { labelsText } from '../common/columns.js';
import { NAME, printed, shown } from '../common/printed-columns.js';
import { defineKind } from '../define-kind.js';
import { defaultPodTemplate } from '@rollkeeper/machinery/defaults';
import { podTemplateWarnings, templateOwnerWarnings } from '../pod-template/pod-warnings.js';
import { validatePodTemplate } from '../pod-template/validate-template.js';

type PodTemplate = DecodedObject<IPodTemplate>;

/** Source: ValidatePodTemplate in pkg/apis/core/validation/validation.go. */
export const POD_TEMPLATE_KIND = defineKind<PodTemplate>({
  type: { group: '', version: 'v1', resource: 'podtemplates', kind: 'PodTemplate', namespaced: true },
  schema: 'io.k8s.api.core.v1.PodTemplate',
  ownershipFrom: 'creation',
  answersDeleted: true,
  generationOf: ({ template }) => template,
  ...printed<PodTemplate>(
    NAME,
    shown('Containers', ({ template }) =>
      (template?.spec?.containers ?? []).map(({ name }) => name).join(','),
    ),
    shown('Images', ({ template }) =>
      (template?.spec?.containers ?? []).map(({ image }) => image ?? '').join(','),
    ),
    shown('Pod Labels', ({ template }) => labelsText(template?.metadata?.labels)),
  ),
  applyDefaults: (object) => defaultPodTemplate(object),
  validate: ({ template }, errors) => validatePodTemplate(template ?? {}, 'template', errors),
  validateUpdate({ template }, old, subresource, errors) {
    if (subresource === '') validatePodTemplate(template ?? {}, 'template', errors, old.template);
  },
  warnings: templateOwnerWarnings<PodTemplate>(({ template }) =>
    podTemplateWarnings(template ?? {}, 'template'),
  ),
});
