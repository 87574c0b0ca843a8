export { DESIRED_REPLICAS, MAX_REPLICAS, REVISION } from './kubernetes/annotations.js';
export { CHANGE_CAUSE, RESTARTED_AT } from './kubernetes/annotations.js';
export { decideRollout } from './decide-rollout.js';
export type { DecisionContext } from './decide-rollout.js';
export {
  DEPLOYMENT_APIS,
  completeDeployment,
  completed,
  deploymentTypeOf,
  isCustomDeployment,
  templateHashOf,
} from './kubernetes/deployment-api.js';
export type { DeploymentApi } from './kubernetes/deployment-api.js';
export { createDeploymentController, deploymentController, deploymentControllerName } from './definition.js';
export { KUBERNETES_RULES, OWN_RULES } from './kubernetes/rollout-rules.js';
export type { DeploymentControllerOptions } from './deployment.options.js';
export type { RolloutRules } from './kubernetes/rollout-rules.js';
export { workloadOf } from './kubernetes/workload.js';
export { RolloutDraft } from './kubernetes/draft.js';
export { isObserved } from './kubernetes/replica-set-draft.js';
export type { ReplicaSetDraft } from './kubernetes/replica-set-draft.js';
export {
  isRollingUpdate,
  maxSurge,
  maxTotalReplicas,
  maxUnavailable,
  minAvailable,
  replicasOf,
  validateDeployment,
} from './kubernetes/limits.js';
export {
  byTime,
  createRecordController,
  entriesOf,
  meansOfRevision,
  readRecord,
  recordNameOf,
  sumOfExperiment,
  wordsOf,
} from './record/index.js';
export type { Means, RecordCounts, RecordEntry, RecordKind, RecordSizes } from './record/index.js';
export { historyKeptForMs } from './policies/history/settings.js';
export { createAdmissionDriftController } from './drift/admission-drift-controller.js';
export { driftSentence, readDrift } from './policies/admission-restart/drift-record.js';
export { createDrainController } from './drain/drain-controller.js';
export { createEvictionResponder } from './eviction-responder/eviction-responder.js';
export { createTurnsController } from './turns-controller.js';
export {
  EXPERIMENT_STOP,
  LONGEST_EXPERIMENT_FILE,
  LONGEST_PLAN,
  createExperimentsController,
  experimentId,
  experimentKeeper,
  experimentMember,
  keepsExperiment,
  parseExperimentFile,
  plannedTemplate,
  portsOf,
  readExperimentState,
  readPlan,
  renderPlan,
} from './experiments/index.js';
export type {
  ExperimentFile,
  ExperimentPlan,
  ExperimentState,
  ExperimentVerdict,
  FileCheck,
  FileTemplate,
  ResolvedTemplate,
} from './experiments/index.js';
export { experimentService } from './policies/experiment/experiment-services.js';
export { placeInQueue, queuedRollout } from './policies/turns/turns.js';
export type { QueuedRollout } from './policies/turns/turns.js';
export { decideRemoval, parseVictims, renderVictims } from './policies/remove-pods/remove-pods.js';
export type { NamedVictim, Removal } from './policies/remove-pods/remove-pods.js';
export type { ReplicaSetWrite } from './kubernetes/plan.js';
export { planPass } from './pass-plan.js';
export type { DeploymentPlan } from './pass-plan.js';
export { latestOf, rolloutSetsOf } from './kubernetes/new-replica-set.js';
export {
  customTemplateHash,
  equalIgnoringHash,
  podTemplateHash,
  withoutHash,
} from './kubernetes/pod-template.js';
export { hasProgressDeadline, progressCheckAfterMs } from './kubernetes/progress.js';
export {
  PROGRESS_DEADLINE_EXCEEDED,
  ROLLBACK_DONE,
  ROLLBACK_REVISION_NOT_FOUND,
} from './kubernetes/reasons.js';
export { hostProblem, parseHostRules } from './policies/checks/check-hosts.js';
export type { HostRule } from './policies/checks/check-hosts.js';
export { SECRET_HOSTS } from './policies/checks/check-secrets.js';
export { guardedLookup } from './policies/checks/common/guarded-lookup.js';
export { channelsOf } from './policies/notify/settings.js';
export { EXPERIMENT, EXPERIMENT_SIDE } from './policies/experiment/experiment-sets.js';
export { readExperimentNotes } from './policies/experiment/experiment-notes.js';
export { GRPCRoute, HTTPRoute } from './policies/traffic/routes.js';
export type { ChecksContext } from './policies/checks/check-needs.js';
export { NoAnswerError, UndiciSender } from './policies/checks/common/http-sender.js';
export type { HttpSender, IncomingAnswer, OutgoingRequest } from './policies/checks/common/http-sender.js';
export { decodeKey, fileSigner, signatureOf } from './policies/checks/signature.js';
export type { RequestSigner } from './policies/checks/signature.js';
export { CheckMeasuring } from './policies/checks/check-measuring.js';
export { RolloutCheckMeter } from './policies/checks/rollout-check-meter.js';
export { readDefinitions } from './policies/checks/read-definitions.js';
export { mayUseChecks } from './policies/checks/uses-checks.js';
export type { CheckDefinitions, CheckNeeds } from './policies/checks/check-needs.js';
export { readCheckResults } from './policies/checks/check-results.js';
export type { CheckRun, Measurement } from './policies/checks/check-results.js';
export type { CheckVerdict } from './policies/checks/common/check-verdict.js';
export { lastMeasured } from './policies/checks/last-measured.js';
export type { LastMeasured } from './policies/checks/last-measured.js';
export { mayBecomeGood } from './policies/failure/may-become-good.js';
export type { RolloutChecksOptions } from './policies/checks/rollout-checks.options.js';
export { readFailures } from './policies/common/failed-templates.js';
export type { FailedTemplate } from './policies/common/failed-templates.js';
export { needsGoodRevisions } from './policies/failure/good-revisions.js';
export { readRevisionEntries, whoAsked, withNotedChange } from './policies/history/history.js';
export { asksForRequest, shownAgain, shownName, trustInNames } from './policies/common/requester.js';
export type { NameTrust } from './policies/common/requester.js';
export type { NotedChange, RevisionEntry, Trigger } from './policies/history/history.js';
export { releaseOf } from './policies/order/order-source.js';
export { NAMESPACE_POLICIES } from './state/namespace-defaults.js';
export type { LivePods } from './policies/resize/live-pods.js';
export { waitCodeOf } from './policies/common/waits.js';
export type { Standing, StandingCode } from './policies/common/outcome.js';
export type { Problem } from './policies/common/tell.js';
export { lastManagerOfTemplate } from './policies/history/managers.js';
export { namespaceDefaults, watchNamespaceDefaults } from './state/namespace-defaults.js';
export type { PolicyOutcome } from './policies/policies.js';
export { compilePolicy } from './policies/compile-policy.js';
export { readPosition } from './policies/common/position.js';
export { parseSteps, renderStep } from './policies/steps/steps.js';
export {
  ABORT,
  APPROVE,
  GOOD_SINCE,
  PREFIX as POLICY_PREFIX,
  RETRY,
  SET_ROLLOUT,
  annotationOf,
  TOLD,
} from './policies/common/names.js';
export { REMOVE_PODS } from './policies/remove-pods/settings.js';
export { SWITCHED } from './policies/blue-green/settings.js';
export type { SelectingService, Services } from './policies/blue-green/selecting-services.js';
export type { ServiceWrite } from './policies/common/service-write.js';
export { degradedBecause } from './policies/degraded/degraded-condition.js';
export { completeSinceMs, hashOf, isGood } from './policies/common/revisions.js';
export {
  CHECK_FAILED,
  CHECK_NOT_POSSIBLE,
  CHECK_UNKNOWN,
  POLICY_CONDITION,
  POLICY_REASONS,
  ROLLED_BACK,
  STRATEGY_NOT_OURS,
  ROLLOUT_HELD,
  WAITING_FOR_APPROVAL,
  RESIZING_PODS,
  WAITING_FOR_TERMINATION,
  WAITING_FOR_BUDGET,
  WAITING_FOR_TURN,
  WAITING_FOR_CHECK,
  WAITING_FOR_CONFIGURATION,
  WAITING_FOR_TRAFFIC,
  WAITING_IN_STEP,
  isRolledOut,
} from './policies/common/tell.js';
export { changesOfTemplate, renderChange, withoutSecrets } from './policies/history/template-changes.js';
export type { TemplateChange } from './policies/history/template-changes.js';
export { failureSentence } from './policies/failure/tell-failure.js';
export { readRevision } from './kubernetes/revision.js';
export { stepRollback } from './kubernetes/rollback.js';
export { stuckCause } from './kubernetes/timeout-cause.js';
export { latestReplicaSet } from './state/latest-replica-set.js';
export { kubectlStatus } from './state/kubectl-status.js';
export { ROLLOUT_HEALTH, policyReasonOf, rolloutHealth, stateOfStatus } from './state/rollout-health.js';
export type { RolloutHealth } from './state/rollout-health.js';
export { failureOf, rolloutState } from './state/rollout-state.js';
export type { RolloutPhase, RolloutState, RolloutView } from './state/rollout-view.js';
export { foreseePass, foreseeRollback, refusalOfRemoval } from './foresight.js';
export type { ForeseenPass, ObservedObjects } from './foresight.js';
