// The metrics that dashboards and alerts use, by name.

import { words } from '../../support/words.ts';

/** Of a leader, once resources are published, refreshed and failing. */
const metricNames: readonly string[] = words(`
  staticexport_ready staticexport_link_expiry_timestamp_seconds
  staticexport_link_remaining_at_refresh_seconds staticexport_last_success_timestamp_seconds
  staticexport_pages staticexport_failures staticexport_export_duration_seconds
  staticexport_inspections_active staticexport_inspections_waiting staticexport_watch_missed_changes
  staticexport_watch_silence_seconds staticexport_api_clock_skew_seconds
  controller_runtime_reconcile_total controller_runtime_reconcile_errors_total
  controller_runtime_reconcile_timeouts_total controller_runtime_reconcile_time_seconds_count
  controller_runtime_max_concurrent_reconciles controller_runtime_active_workers workqueue_depth
  workqueue_adds_total workqueue_retries_total workqueue_queue_duration_seconds_count
  workqueue_work_duration_seconds_count workqueue_unfinished_work_seconds
  workqueue_longest_running_processor_seconds rest_client_requests_total leader_election_master_status
`);

/** Names without a single value in a page of metrics. */
export const missingMetrics = (page: string): readonly string[] =>
  metricNames.filter((name) => !new RegExp(`^${name}(\\{.*\\})? [-+.e\\d]+$`, 'm').test(page));
