import type { Deployment, DeploymentSpec } from '../../../../base/kubernetes/index.js';
import { omitZero } from '../../common/omit-zero.js';
import { defaultPodTemplate } from '../../pod-template/pod-spec-defaults.js';

/** Source: SetDefaults_Deployment in pkg/apis/apps/v1/defaults.go. */
export function defaultDeployment(deployment: Deployment): void {
  const spec = (deployment.spec ??= {} as DeploymentSpec);
  spec.replicas ??= 1;
  spec.revisionHistoryLimit ??= 10;
  spec.progressDeadlineSeconds ??= 600;
  const strategy = (spec.strategy ??= {});
  strategy.type ??= 'RollingUpdate';
  if (strategy.type === 'RollingUpdate') {
    const limits = (strategy.rollingUpdate ??= {});
    limits.maxUnavailable ??= '25%';
    limits.maxSurge ??= '25%';
  }
  defaultPodTemplate(spec);
  omitZero(spec, ['paused', 'minReadySeconds']);
}
