import {
  ADMISSION_RESTART,
  ADMISSION_RESTART_SETTINGS,
  RESTART_ON_ADMISSION,
  type AdmissionSurroundings,
} from './admission-restart/admission-restart.js';
import { AUTOSCALING } from './autoscaling/autoscaling.js';
import { AUTOSCALING_SETTINGS } from './autoscaling/settings.js';
import { BLUE_GREEN, RELEASED_SERVICES } from './blue-green/blue-green.js';
import { BLUE_GREEN_SETTINGS } from './blue-green/settings.js';
import { BUDGETS, type BudgetSurroundings } from './budgets/respect-budgets.js';
import { BUDGET_SETTINGS } from './budgets/settings.js';
import type { CheckOutcome, ChecksContext } from './checks/check-needs.js';
import { CHECKS } from './checks/check-problem.js';
import { CHECK_SETTINGS } from './checks/settings.js';
import type { Outcome } from './common/outcome.js';
import type { Pass, Policy } from './common/pass.js';
import type { SettingRules } from './common/settings.js';
import {
  CONFIG_RESTART,
  RESTART_ON_CHANGE,
  type ConfigSurroundings,
} from './config-restart/config-restart.js';
import { PINNED_CONFIG_POLICY } from './config-restart/pinned-config.js';
import { CONFIG_RESTART_SETTINGS } from './config-restart/settings.js';
import { DEGRADED_POLICY, DEGRADED_SETTINGS } from './degraded/degraded.js';
import { EVICTIONS, type EvictionSurroundings } from './evictions/on-eviction.js';
import { EVICTION_SETTINGS } from './evictions/settings.js';
import { EXPERIMENTS, type ExperimentSurroundings } from './experiment/experiment.js';
import { FAILED_PODS_POLICY, FAILED_PODS_SETTINGS } from './failed-pods/failed-pods.js';
import { FAILURE_SETTINGS } from './failure/settings.js';
import { HISTORY } from './history/history.js';
import { HISTORY_SETTINGS } from './history/settings.js';
import { NOTIFY_SETTINGS } from './notify/settings.js';
import { HOLD_UNTIL_PINNED } from './pinning/hold-until-pinned.js';
import { FOLLOW_ORDER, ORDER } from './order/follow-order.js';
import type { OrderSurroundings } from './order/order-source.js';
import { ORDER_SETTINGS } from './order/settings.js';
import { POD_REPLACEMENT_POLICY } from './pod-replacement/pod-replacement.js';
import { POD_REPLACEMENT_SETTINGS } from './pod-replacement/settings.js';
import { RELABEL_IN_PLACE } from './relabel/relabel-in-place.js';
import { RELABEL_SETTINGS } from './relabel/settings.js';
import { REMOVE_PODS_SETTINGS } from './remove-pods/settings.js';
import { GO_BACK_TOGETHER } from './order/go-back-together.js';
import { RELEASE_SETTINGS } from './order/release-settings.js';
import { CARRY_OUT_REQUESTS, REQUESTS } from './requests/requests.js';
import { KEEP_OLD, KEEP_OLD_SETTINGS, type DrainSurroundings } from './keep-old/keep-old.js';
import type { LivePods } from './resize/live-pods.js';
import { RESIZE_IN_PLACE, type ResizeOutcome } from './resize/resize-in-place.js';
import { RESIZE_SETTINGS } from './resize/settings.js';
import { SCALE_DOWN } from './scale-down/scale-down.js';
import { SCALE_DOWN_SETTINGS } from './scale-down/settings.js';
import { REBALANCE, REBALANCE_SETTINGS } from './spread/rebalance.js';
import { SPREAD, SPREAD_SETTINGS } from './spread/spread.js';
import { SIDE_SERVICES, type ExperimentServiceSurroundings } from './side-services/side-services.js';
import { HOLD_START } from './start/hold-start.js';
import { SERVING, SERVING_SETTINGS } from './serving/serving.js';
import { START_SETTINGS } from './start/settings.js';
import type { ExperimentOutcome } from './steps/experiment-step.js';
import { FAST_TRACK_SETTINGS, STEP_SETTINGS } from './steps/settings.js';
import { SURGE_SETTINGS } from './surge/settings.js';
import { SURGE } from './surge/surge.js';
import { TURN_SETTINGS } from './turns/settings.js';
import { TAKE_TURNS, TURNS, type TurnSurroundings } from './turns/take-turns.js';
import { versionBy } from './version/choose-version.js';
import { ROLL_OUT, STAY_IN_PLACE } from './version/roll-out.js';
import type { VersionRule } from './common/version-rule.js';
import { GO_BACK } from './failure/go-back.js';
import { LEFT_PARTS } from './traffic/left-parts.js';
import { TRAFFIC_SETTINGS } from './traffic/settings.js';
import { TRAFFIC, type TrafficOutcome, type TrafficSurroundings } from './traffic/traffic.js';
import type { ReadyEndpoints } from './traffic/endpoints.js';
import { VERSION_LABEL_SETTINGS } from './version-labels/settings.js';
import { VERSION_LABELS } from './version-labels/version-labels.js';
import { ZONE_SETTINGS } from './zones/settings.js';
import { ZONES, type ZoneSurroundings } from './zones/zones.js';

/** The settings of all policies, in the order in which their problems are reported. */
const SETTINGS = [
  FAILURE_SETTINGS,
  STEP_SETTINGS,
  CHECK_SETTINGS,
  START_SETTINGS,
  CONFIG_RESTART_SETTINGS,
  ADMISSION_RESTART_SETTINGS,
  BUDGET_SETTINGS,
  TURN_SETTINGS,
  ORDER_SETTINGS,
  RELEASE_SETTINGS,
  BLUE_GREEN_SETTINGS,
  TRAFFIC_SETTINGS,
  POD_REPLACEMENT_SETTINGS,
  ZONE_SETTINGS,
  SCALE_DOWN_SETTINGS,
  HISTORY_SETTINGS,
  FAST_TRACK_SETTINGS,
  EVICTION_SETTINGS,
  RESIZE_SETTINGS,
  RELABEL_SETTINGS,
  REMOVE_PODS_SETTINGS,
  FAILED_PODS_SETTINGS,
  KEEP_OLD_SETTINGS,
  DEGRADED_SETTINGS,
  SURGE_SETTINGS,
  SPREAD_SETTINGS,
  REBALANCE_SETTINGS,
  VERSION_LABEL_SETTINGS,
  AUTOSCALING_SETTINGS,
  SERVING_SETTINGS,
  NOTIFY_SETTINGS,
] as const;

/** The rules of the version that runs, in their order: the first that chooses one counts. */
const VERSION_RULES: readonly VersionRule<RolloutPass>[] = [
  GO_BACK_TOGETHER,
  GO_BACK,
  CARRY_OUT_REQUESTS,
  RESTART_ON_CHANGE,
  RESTART_ON_ADMISSION,
  HOLD_UNTIL_PINNED,
  FOLLOW_ORDER,
  HOLD_START,
  TAKE_TURNS,
  STAY_IN_PLACE,
  RESIZE_IN_PLACE,
  RELABEL_IN_PLACE,
  ROLL_OUT,
];

/**
 * The policies in their order: what one decides, those behind it know. What it reports once the syncs have been played, it
 * reports after them.
 */
export const POLICIES: readonly Policy<RolloutPass>[] = [
  AUTOSCALING,
  REQUESTS,
  HISTORY,
  POD_REPLACEMENT_POLICY,
  LEFT_PARTS,
  RELEASED_SERVICES,
  CONFIG_RESTART,
  PINNED_CONFIG_POLICY,
  ADMISSION_RESTART,
  EVICTIONS,
  REBALANCE,
  BUDGETS,
  SURGE,
  TURNS,
  ORDER,
  versionBy<RolloutPass>(VERSION_RULES),
  BLUE_GREEN,
  TRAFFIC,
  ZONES,
  CHECKS,
  SCALE_DOWN,
  FAILED_PODS_POLICY,
  KEEP_OLD,
  DEGRADED_POLICY,
  SERVING,
  SPREAD,
  VERSION_LABELS,
  SIDE_SERVICES,
  EXPERIMENTS,
];

type FieldsOf<Settings> = Settings extends { readonly none: infer Fields } ? Fields : never;
/** All types of a union together. */
type Together<Union> = (Union extends object ? (each: Union) => void : never) extends (
  all: infer All extends object,
) => void
  ? All
  : never;

/** How a rollout looks after itself: the fields of all settings. */
export type PolicyFields = Together<FieldsOf<(typeof SETTINGS)[number]>>;
export type RolloutPolicy = Pass<PolicyFields>['policy'];

export const ALL_SETTINGS: readonly SettingRules<PolicyFields>[] = SETTINGS;

/** The fields if nothing is asked for. */
export const NO_POLICY: RolloutPolicy = Object.assign(
  {},
  ...SETTINGS.map(({ none }) => none),
) as PolicyFields;

/** The surroundings of a Deployment. What is not known, the policies neither ask about nor doubt: the status counts as true. */
export interface Surroundings
  extends
    AdmissionSurroundings,
    BudgetSurroundings,
    ConfigSurroundings,
    DrainSurroundings,
    EvictionSurroundings,
    ExperimentServiceSurroundings,
    OrderSurroundings,
    TrafficSurroundings,
    TurnSurroundings,
    ZoneSurroundings {}

/** The effect of the policies on a pass. */
export interface PolicyOutcome
  extends Outcome, CheckOutcome, ExperimentOutcome, ResizeOutcome, TrafficOutcome {}

/** A pass under all policies. */
export interface RolloutPass extends Pass<PolicyFields>, Surroundings, ExperimentSurroundings {
  readonly outcome: PolicyOutcome;
  readonly checks: ChecksContext;
  /** @default to be read, where they are needed */
  readonly livePods?: LivePods;
  /** @default to be read, where they are needed */
  readonly endpoints?: ReadyEndpoints;
}
