// The situations of the operator's alerts about mirrors: in which each must fire, and the near misses. Pure data.

import { type AlertCases, always, fires, line, seen } from './alert-series.ts';
import { condition, handedOver, ofDocs } from './operator-series.ts';

const notMirrored = { type: 'Ready', status: 'False', reason: 'NotMirrored' };

/** @param count of daily checks in a row that did not remove old copies */
const removals = (count: number) => ({
  [line('staticexport_failures', { ...ofDocs('a'), operation: 'retention', reason: 'Denied' })]:
    always(count),
});

/** With the chart's own thresholds. */
export const mirrorAlerts: Readonly<Record<string, AlertCases>> = {
  StaticExportNotMirrored: fires(
    seen(12, condition('Ready', 'False', 'NotMirrored'), condition('Mirrored', 'False', 'Lost')),
    seen(25, handedOver('staticexport_condition', notMirrored, 1, 8)),
  ).stays(
    seen(8, condition('Ready', 'False', 'NotMirrored')),
    // It was copied again.
    seen(20, condition('Ready', 'False', 'NotMirrored', [1, 8], [undefined, 60])),
    // A link is published.
    seen(90, condition('Ready', 'True', 'Published'), condition('Mirrored', 'False', 'Lost')),
  ),
  StaticExportRetentionFailing: fires(
    seen(80, removals(2)),
    seen(80, handedOver('staticexport_failures', { operation: 'retention', reason: 'Denied' }, 3, 8)),
  ).stays(
    seen(55, removals(2)),
    // The next check may remove them.
    seen(90, removals(1)),
    seen(90, condition('Mirrored', 'True', 'RetentionFailed')),
  ),
  StaticExportMirrorFailing: fires(
    seen(62, condition('Mirrored', 'False', 'Lost')),
    seen(62, condition('Mirrored', 'False', 'Denied')),
    // The copy was there, and the mirror has not answered since.
    seen(62, condition('Mirrored', 'Unknown', 'Unreachable')),
    // What an outage looks like changes with the attempts.
    seen(62, condition('Mirrored', 'False', 'Unreachable', [1, 30], [undefined, 60]), {
      [line('staticexport_condition', {
        ...ofDocs('a'),
        type: 'Mirrored',
        status: 'False',
        reason: 'CopyFailed',
      })]: `_x60 ${always(1)}`,
    }),
  ).stays(
    seen(55, condition('Mirrored', 'False', 'Lost')),
    seen(90, condition('Mirrored', 'True', 'Copied')),
    // A large site through a slow network.
    seen(90, condition('Mirrored', 'Unknown', 'Copying')),
    seen(90, condition('Mirrored', 'Unknown', 'NotPublished')),
    // That has an alert of its own.
    seen(90, condition('Mirrored', 'False', 'Lost'), condition('Ready', 'False', 'NotMirrored')),
  ),
};
