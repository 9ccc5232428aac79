// The situations of the operator's alerts: in which each must fire, and the near misses. As two replicas show them:
// resources have series of the leader's pod alone, which change to the other one's at every take-over.

import { type AlertCases, always, fires, line, over, type Span, seen, times } from './alert-series.ts';
import { mirrorAlerts } from './mirror-alert-series.ts';
import {
  blocked,
  condition,
  docs,
  due,
  failures,
  fresh,
  handedOver,
  instant,
  job,
  link,
  notifications,
  ofDocs,
  ofOperator,
  operator,
  servers,
  skew,
  target,
} from './operator-series.ts';

const up = (pod: string, ...spans: readonly Span[]) => operator('up', pod, ...spans);
const leads = (pod: string, ...spans: readonly Span[]) =>
  operator('leader_election_master_status', pod, ...spans);
const suspended = docs('staticexport_suspended', {});
const byHand = (...spans: readonly Span[]) =>
  docs('staticexport_operators_overlap', { installation: 'me/by-hand' }, ...spans);
const refusedWatch = (pod: string, namespace: string, ...spans: readonly Span[]) => ({
  [line('staticexport_watch_refused', { job, pod, namespace })]:
    spans.length === 0 ? always(1) : over(...spans),
});

/** With the chart's own thresholds. */
export const operatorAlerts: Readonly<Record<string, AlertCases>> = {
  ...mirrorAlerts,
  StaticExportOperatorAbsent: fires(
    seen(10, { 'up{namespace="other",job="other"}': always(1) }),
    seen(10, up('a', [0, 60]), up('b', [0, 60])),
    // It was there, and its pods are gone.
    seen(20, up('a', [1, 10], [undefined, 60])),
  ).stays(
    seen(10, up('a', [0, 60]), up('b', [1, 60])),
    // Both are replaced, which takes four minutes.
    seen(20, up('a', [1, 10], [undefined, 60]), {
      [line('up', ofOperator('c'))]: `_x28 ${always(1)}`,
    }),
  ),
  StaticExportOperatorWithoutLeader: fires(
    seen(10, leads('a', [0, 60]), leads('b', [0, 60])),
    // The leader is gone, and the other one may not have the lease.
    seen(20, leads('a', [1, 10], [undefined, 60]), leads('b', [0, 60])),
  ).stays(
    seen(10, leads('a', [0, 60]), leads('b', [1, 60])),
    // A take-over.
    seen(10, leads('a', [1, 5], [undefined, 60]), leads('b', [0, 6], [1, 60])),
  ),
  StaticExportReconcilesFailing: fires(
    // At the pace of the back-off.
    seen(17, docs('staticexport_failed_reconciles', {}, [1, 0.5], [4, 0.5], [7, 2], [8, 5], [9, 60])),
    // Over a take-over: the other one begins to count anew.
    seen(25, docs('staticexport_failed_reconciles', {}, [3, 2], [9, 8], [undefined, 60]), {
      [line('staticexport_failed_reconciles', ofDocs('b'))]: `_x24 ${over([1, 0.5], [4, 60])}`,
    }),
    // Passes that are cut off: one in ten minutes.
    seen(50, docs('staticexport_failed_reconciles', {}, [1, 10], [2, 10], [3, 10], [4, 60])),
  ).stays(
    seen(12, docs('staticexport_failed_reconciles', {}, [4, 60])),
    // Mended.
    seen(40, docs('staticexport_failed_reconciles', {}, [4, 5], [undefined, 60])),
    // One fails now and then, and the next succeeds.
    seen(40, docs('staticexport_failed_reconciles', {}, ...times(20, [1, 1], [undefined, 1]))),
  ),
  StaticExportLinkExpired: fires(
    seen(13, link(0, undefined, 600)),
    // The output Secret was deleted: there is no end to show.
    seen(13, condition('LinkFresh', 'False', 'Expired')),
    seen(13, handedOver('staticexport_link_expiry_timestamp_seconds', {}, 300, 5)),
  ).stays(
    seen(9, link(0, undefined, 600)),
    // Dead for a moment before the fresh one came.
    seen(13, docs('staticexport_link_expiry_timestamp_seconds', {}, [600, 11], [1800, 60])),
    // Nothing is published yet.
    seen(60, condition('LinkFresh', 'Unknown', 'NotPublished')),
  ),
  StaticExportLinkExpiring: fires(
    // Calls fail, and the next try is always ahead.
    seen(55, link(0, 3500, 3600), due),
    // No call may be made: no time can be named.
    seen(55, link(0, undefined, 3600), fresh),
    // The operator hangs: its time has passed.
    seen(55, link(0, 2376, 3600), fresh),
    // It lives five minutes: there are 45 seconds to see it.
    seen(4.5, link(0, undefined, 300), due),
    seen(
      56,
      handedOver('staticexport_link_expiry_timestamp_seconds', {}, 3600, 54.5),
      handedOver('staticexport_link_issued_timestamp_seconds', {}, 0, 54.5),
      due,
    ),
  ).stays(
    seen(45, link(0, undefined, 3600), due),
    // Dead is another alert.
    seen(70, link(0, undefined, 3600), due),
    // It shall be replaced at 90 % of its life, and that has not come.
    seen(53, link(0, 3240, 3600), fresh),
  ),
  StaticExportFailing: fires(
    seen(365, failures('export', 'JobFailed')),
    seen(365, failures('poll', 'NetworkError')),
    // An outage: what the last try met changes all the time, and is nothing while the first three are under way.
    seen(
      400,
      failures('export', 'NetworkError', ...times(60, [undefined, 3], [1, 4])),
      failures('export', 'StartUnconfirmed', [undefined, 3], ...times(60, [2, 3], [undefined, 4])),
    ),
    // Over a take-over, with an old success.
    seen(
      365,
      handedOver('staticexport_failures', { operation: 'export', reason: 'JobFailed' }, 3, 200),
      instant('last_success', 100),
    ),
  ).stays(
    seen(355, failures('export', 'JobFailed')),
    // An export succeeded between.
    seen(365, failures('export', 'JobFailed', [3, 200], [undefined, 30], [1, 300])),
    // Polls fail now and then, and exports succeed every ten minutes.
    seen(
      400,
      failures('poll', 'ServerError'),
      docs(
        'staticexport_last_success_timestamp_seconds',
        {},
        ...Array.from({ length: 60 }, (_, at): Span => [600 * at, 10]),
      ),
    ),
    seen(365, failures('link', 'NetworkError')),
    // Nobody wants an export.
    seen(365, failures('export', 'JobFailed'), suspended),
    seen(365, failures('export', 'JobFailed'), condition('Ready', 'True', 'Pinned')),
  ),
  StaticExportStalled: fires(
    seen(12, condition('Stalled', 'True', 'OutputNotOwned')),
    seen(12, condition('Stalled', 'True', 'OutputUnreadable')),
    seen(12, condition('Stalled', 'True', 'InvalidSchedule')),
    seen(12, condition('Stalled', 'True', 'InvalidSpec')),
  ).stays(
    seen(8, condition('Stalled', 'True', 'OutputNotOwned')),
    // These have alerts of their own.
    seen(12, condition('Stalled', 'True', 'KeyRefused'), blocked('KeyRefused')),
    seen(12, condition('Stalled', 'True', 'HostNotAllowed'), blocked('HostNotAllowed')),
    seen(12, condition('Stalled', 'True', 'AwaitingPromotion')),
    seen(12, condition('Stalled', 'True', 'Rejected')),
  ),
  StaticExportKeyRefused: fires(seen(7, blocked('KeyRefused')), seen(7, blocked('KeyForbidden'))).stays(
    seen(7, blocked('KeyMissing')),
    // Renewed after four minutes.
    seen(7, blocked('KeyRefused', [1, 4], [undefined, 60])),
  ),
  StaticExportCallsBlocked: fires(
    // All is published and nothing is due: nothing but this tells.
    seen(12, blocked('KeyMissing'), condition('Ready', 'True', 'Published')),
    seen(12, blocked('KeyEmpty')),
    seen(12, blocked('HostNotAllowed')),
  ).stays(
    seen(8, blocked('KeyMissing')),
    seen(12, blocked('KeyRefused')),
    // The resource came five minutes before its Secret.
    seen(12, blocked('KeyMissing', [1, 5], [undefined, 60])),
  ),
  StaticExportPageCountDropped: fires(
    seen(1, condition('Exported', 'False', 'PageCountDropped')),
    seen(1, condition('Exported', 'False', 'TooFewPages')),
    seen(1, condition('Exported', 'False', 'HomePageMissing')),
  ).stays(
    seen(1, condition('Exported', 'True', 'Promoted')),
    seen(1, condition('Exported', 'False', 'AwaitingPromotion')),
  ),
  StaticExportTargetsContested: fires(seen(1, condition('TargetsSynced', 'False', 'Contested'))).stays(
    seen(1, condition('TargetsSynced', 'True', 'Synced')),
  ),
  StaticExportTargetOwnedElsewhere: fires(
    seen(35, target('HelmRelease', 'OwnedElsewhere', 0)),
    seen(35, target('Application', 'OwnedElsewhere', 0)),
  ).stays(
    seen(25, target('HelmRelease', 'OwnedElsewhere', 0)),
    seen(35, target('HelmRelease', 'RollingOut', 0)),
    seen(35, target('Workload', 'Synced', 1)),
  ),
  StaticExportTargetRolloutFailed: fires(
    seen(12, target('HelmRelease', 'RolloutFailed', 0)),
    seen(12, target('Workload', 'RolloutFailed', 0)),
  ).stays(
    seen(8, target('HelmRelease', 'RolloutFailed', 0)),
    seen(12, target('Application', 'AwaitingSync', 0)),
    seen(12, target('Values', 'Synced', 1)),
  ),
  StaticExportTargetsNotSynced: fires(
    seen(35, condition('TargetsSynced', 'False', 'NotGranted')),
    seen(35, condition('TargetsSynced', 'False', 'PushFailed')),
    // Of two targets now the one is named, now the other.
    seen(35, condition('TargetsSynced', 'False', 'NotGranted', [1, 15], [undefined, 60]), {
      [line('staticexport_condition', {
        ...ofDocs('a'),
        type: 'TargetsSynced',
        status: 'False',
        reason: 'WriteFailed',
      })]: `_x30 ${always(1)}`,
    }),
  ).stays(
    seen(25, condition('TargetsSynced', 'False', 'NotGranted')),
    seen(35, condition('TargetsSynced', 'False', 'Contested')),
    seen(35, condition('TargetsSynced', 'False', 'RolloutFailed')),
    seen(35, condition('TargetsSynced', 'False', 'OwnedElsewhere')),
    seen(35, condition('TargetsSynced', 'Unknown', 'NotPublished')),
    seen(35, condition('TargetsSynced', 'Unknown', 'AwaitingMerge')),
    seen(35, condition('TargetsSynced', 'False', 'WriteFailed'), suspended),
  ),
  StaticExportOperatorsOverlap: fires(
    // Somebody started one by hand for a moment.
    seen(8, byHand([undefined, 5], [1, 10])),
    seen(8, handedOver('staticexport_operators_overlap', { installation: 'ops-two/operator' }, 1, 5)),
  ).stays(seen(30, byHand([1, 10], [undefined, 30])), seen(8, condition('Ready', 'True', 'Published'))),
  StaticExportNamespaceRefused: fires(
    // Both replicas try, and one is restarted.
    seen(12, refusedWatch('a', 'gone', [1, 6], [undefined, 30]), refusedWatch('b', 'gone')),
  ).stays(
    seen(12, refusedWatch('a', 'gone', [1, 6], [undefined, 30])),
    seen(12, refusedWatch('a', 'docs', [0, 600])),
  ),
  StaticExportClockSkew: fires(
    seen(7, skew(90)),
    seen(7, skew(-90)),
    // A leader that came a short while ago has seen one link.
    seen(30, skew(0, [undefined, 20], [90, 60])),
  ).stays(seen(7, skew(-50)), seen(7, skew(0, [90, 3], [2, 60]))),
  StaticExportNotificationsFailing: fires(
    seen(12, notifications('failed', [0, 8], [1, 60])),
    seen(40, notifications('dropped', [0, 8], [5, 60])),
  ).stays(
    seen(40, notifications('delivered', [0, 8], [5, 60])),
    seen(80, notifications('failed', [0, 8], [1, 120])),
  ),
  StaticExportServersDisagree: fires(
    seen(25, servers(['docs-admin', 'a', 'one'], ['docs-admin', 'b', 'two'])),
  ).stays(
    seen(25, servers(['docs-admin', 'a', 'one'], ['docs-admin', 'b', 'one'])),
    // Two sites are not one.
    seen(25, servers(['docs-admin', 'a', 'one'], ['blog-admin', 'b', 'two'])),
    // A swap in which one server is ten minutes behind.
    seen(
      25,
      servers(
        ['docs-admin', 'a', 'two'],
        ['docs-admin', 'b', 'one', [1, 10], [undefined, 60]],
        ['docs-admin', 'b', 'two', [undefined, 10], [1, 60]],
      ),
    ),
  ),
};
