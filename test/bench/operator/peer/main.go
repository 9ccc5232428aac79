// The same job done the usual way: a controller-runtime operator that reads a StaticExport, its key Secret and
// its output, starts a job, polls it, issues a link, probes it, and writes Secret, ConfigMap and status, with the fields
// that this project's operator gives them.
// It stands beside ours in the benchmarks and is no product: no back-off in status, no inspection, no refresh.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"net/http"
	"os"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/events"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/healthz"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
)

// As ours asks about a job at first.
const pollEvery = 2 * time.Second

var kind = schema.GroupVersionKind{Group: "staticexport.dev", Version: "v1alpha1", Kind: "StaticExport"}

func main() {
	kubeconfig := flag.String("config", "", "kubeconfig file")
	api := flag.String("api-base-url", "", "export API")
	namespace := flag.String("lease-namespace", "default", "namespace of the lease")
	metrics := flag.String("metrics-listen", "127.0.0.1:0", "where /metrics is answered")
	probes := flag.String("probe-listen", "127.0.0.1:0", "where /readyz is answered")
	workers := flag.Int("workers", 4, "passes at the same time")
	flag.Parse()
	ctrl.SetLogger(zap.New())
	if err := run(*kubeconfig, *api, *namespace, *metrics, *probes, *workers); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(kubeconfig, api, namespace, metrics, probes string, workers int) error {
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return err
	}
	// Without a limit of its own, as ours.
	config.QPS = -1
	scheme := runtime.NewScheme()
	if err := clientgoscheme.AddToScheme(scheme); err != nil {
		return err
	}
	manager, err := ctrl.NewManager(config, ctrl.Options{
		Scheme:                  scheme,
		Metrics:                 server.Options{BindAddress: metrics},
		HealthProbeBindAddress:  probes,
		LeaderElection:          true,
		LeaderElectionID:        "bench-peer",
		LeaderElectionNamespace: namespace,
		// Handed back at the end, as ours, so that the next start does not wait for it.
		LeaderElectionReleaseOnCancel: true,
		// Secrets are read by name, never watched.
		Client: client.Options{Cache: &client.CacheOptions{
			DisableFor: []client.Object{&corev1.Secret{}, &corev1.ConfigMap{}},
		}},
	})
	if err != nil {
		return err
	}
	if err := manager.AddReadyzCheck("ping", healthz.Ping); err != nil {
		return err
	}
	object := &unstructured.Unstructured{}
	object.SetGroupVersionKind(kind)
	err = builder.ControllerManagedBy(manager).
		For(object, builder.WithPredicates(predicate.GenerationChangedPredicate{})).
		WithOptions(controller.Options{MaxConcurrentReconciles: workers}).
		Complete(&reconciler{
			Client: manager.GetClient(), live: manager.GetAPIReader(), api: api,
			recorder: manager.GetEventRecorder("bench-peer"),
		})
	if err != nil {
		return err
	}
	return manager.Start(ctrl.SetupSignalHandler())
}

type reconciler struct {
	client.Client
	live     client.Reader
	api      string
	recorder events.EventRecorder
}

func (r *reconciler) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	object := &unstructured.Unstructured{}
	object.SetGroupVersionKind(kind)
	if err := r.live.Get(ctx, request.NamespacedName, object); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	name, _, _ := unstructured.NestedString(object.Object, "spec", "api", "keySecretRef", "name")
	secret := &corev1.Secret{}
	if err := r.Get(ctx, client.ObjectKey{Namespace: request.Namespace, Name: name}, secret); err != nil {
		return ctrl.Result{RequeueAfter: time.Minute}, client.IgnoreNotFound(err)
	}
	output := client.ObjectKey{Namespace: request.Namespace, Name: request.Name + "-bundle"}
	published := &corev1.Secret{}
	err := r.Get(ctx, output, published)
	if client.IgnoreNotFound(err) != nil {
		return ctrl.Result{}, err
	}
	isPublished := err == nil
	if err := r.Get(ctx, output, &corev1.ConfigMap{}); client.IgnoreNotFound(err) != nil {
		return ctrl.Result{}, err
	}
	if isPublished {
		observed, _, _ := unstructured.NestedInt64(object.Object, "status", "observedGeneration")
		if observed == object.GetGeneration() {
			return ctrl.Result{RequeueAfter: time.Hour}, nil
		}
		job, _, _ := unstructured.NestedMap(object.Object, "status", "job")
		return ctrl.Result{RequeueAfter: time.Hour}, r.status(ctx, object, "job", job)
	}
	return r.advance(ctx, object, string(secret.Data["apiKey"]))
}

// One call to the export API in each reconcile, as this project's operator does: start, poll, issue.
func (r *reconciler) advance(ctx context.Context, object *unstructured.Unstructured, key string) (ctrl.Result, error) {
	job, _, _ := unstructured.NestedString(object.Object, "status", "job", "id")
	state, _, _ := unstructured.NestedString(object.Object, "status", "job", "state")
	domain, _, _ := unstructured.NestedString(object.Object, "spec", "domain")
	jobs := r.api + "/v1/static-export/jobs"
	switch {
	case job == "":
		// The start record that makes a lost answer harmless is written before the job is requested.
		record := map[string]any{
			"key": string(object.GetUID()), "lastAttemptTime": now(),
			"inputHash": domain, "cause": "First", "attempts": int64(1),
		}
		if err := r.status(ctx, object, "start", record); err != nil {
			return ctrl.Result{}, err
		}
		var started struct {
			JobID string `json:"jobId"`
		}
		if err := call(ctx, http.MethodPost, jobs, key, map[string]string{"domain": domain}, &started); err != nil {
			return ctrl.Result{}, err
		}
		r.tell(object, "ExportStarted", "Export started. Job "+started.JobID+".")
		return ctrl.Result{RequeueAfter: pollEvery}, r.status(ctx, object, "job", r.job(started.JobID, ""))
	case state != "completed":
		var polled struct {
			Status string `json:"status"`
		}
		if err := call(ctx, http.MethodGet, jobs+"/"+job, key, nil, &polled); err != nil {
			return ctrl.Result{}, err
		}
		next := pollEvery
		if polled.Status == "completed" {
			next = time.Millisecond
		}
		return ctrl.Result{RequeueAfter: next}, r.status(ctx, object, "job", r.job(job, polled.Status))
	default:
		var issued struct {
			BundleURL string `json:"bundleUrl"`
			ExpiresAt string `json:"expiresAt"`
		}
		if err := call(ctx, http.MethodPost, jobs+"/"+job+"/bundle", key, nil, &issued); err != nil {
			return ctrl.Result{}, err
		}
		if err := probe(ctx, issued.BundleURL); err != nil {
			return ctrl.Result{}, err
		}
		if err := r.publish(ctx, object, job, issued.BundleURL, issued.ExpiresAt); err != nil {
			return ctrl.Result{}, err
		}
		r.tell(object, "Promoted", "Version "+issued.ExpiresAt+" is published.")
		return ctrl.Result{RequeueAfter: time.Hour}, r.status(ctx, object, "job", r.job(job, state), r.active(job, issued.ExpiresAt))
	}
}

func (r *reconciler) tell(object *unstructured.Unstructured, reason, note string) {
	r.recorder.Eventf(object, nil, corev1.EventTypeNormal, reason, "Reconcile", "%s", note)
}

func (r *reconciler) publish(ctx context.Context, object *unstructured.Unstructured, job, link, expires string) error {
	// One request: an apply with a version that no object has creates it, and is a conflict where there is one.
	apply := func(kind string, labels map[string]any, data map[string]any) error {
		target := &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": "v1", "kind": kind,
			"metadata": map[string]any{
				"namespace": object.GetNamespace(), "name": object.GetName() + "-bundle", "resourceVersion": "1",
				"labels": labels,
				"ownerReferences": []any{map[string]any{
					"apiVersion": object.GetAPIVersion(), "kind": object.GetKind(),
					"name": object.GetName(), "uid": string(object.GetUID()), "controller": true,
				}},
			},
		}}
		for field, value := range data {
			target.Object[field] = value
		}
		return r.Apply(ctx, client.ApplyConfigurationFromUnstructured(target), client.FieldOwner("bench-peer"), client.ForceOwnership)
	}
	bundle, err := json.Marshal(map[string]any{
		"version": version(job), "jobId": job, "bundleUrl": link, "issuedAt": now(), "expiresAt": expires, "pages": 7,
	})
	if err != nil {
		return err
	}
	labels := map[string]any{"app.kubernetes.io/managed-by": "bench-peer"}
	values := "staticExport:\n  enabled: true\n  bundleUrl: " + link + "\n  version: " + version(job) + "\n"
	if err := apply("Secret", labels, map[string]any{"type": "Opaque", "stringData": map[string]any{
		"bundle.json": string(bundle), "bundleUrl": link, "version": version(job), "values.yaml": values,
	}}); err != nil {
		return err
	}
	watched := map[string]any{"app.kubernetes.io/managed-by": "bench-peer", "reconcile.fluxcd.io/watch": "Enabled"}
	return apply("ConfigMap", watched, map[string]any{"data": map[string]any{
		"version": version(job), "values.yaml": "staticExport:\n  enabled: true\n  version: " + version(job) + "\n",
	}})
}

func now() string { return time.Now().UTC().Format(time.RFC3339) }

// As long as a version of this project's operator.
func version(job string) string { return fmt.Sprintf("20261127-030405-%08x", len(job)) }

// The job with the fields that this project's operator keeps of it.
func (r *reconciler) job(id, state string) map[string]any {
	job := map[string]any{
		"id": id, "baseUrl": r.api, "cause": "First", "inputHash": "d667d35d2e5f4300", "requestTime": now(), "startTime": now(),
	}
	if state != "" {
		job["state"], job["completionTime"] = state, now()
		job["progress"], job["pageCount"] = int64(100), int64(7)
	}
	return job
}

// What is published, and the history of it.
func (r *reconciler) active(job, expires string) map[string]any {
	past := map[string]any{
		"baseUrl": r.api, "exportTime": now(), "inputHash": "d667d35d2e5f4300", "jobId": job, "publishTime": now(),
		"version": version(job),
	}
	active := map[string]any{"linkExpirationTime": expires, "linkIssueTime": now()}
	for field, value := range past {
		active[field] = value
	}
	return map[string]any{
		"active": active, "history": []any{past}, "nextRefreshTime": now(),
		"operatorLease": "default/bench-peer-operator", "pages": int64(7),
	}
}

// A job replaces its start record.
func (r *reconciler) status(ctx context.Context, object *unstructured.Unstructured, field string, value map[string]any, more ...map[string]any) error {
	before := object.DeepCopy()
	condition := func(name, reason, message string) any {
		return map[string]any{
			"type": name, "status": "True", "reason": reason, "message": message,
			"observedGeneration": object.GetGeneration(), "lastTransitionTime": now(),
		}
	}
	conditions := []any{
		condition("Ready", "Published", "The wanted version is published with a valid link. Version 20261127-030405-026ab639."),
		condition("Exported", "Promoted", "The last export was published."),
		condition("LinkFresh", "Fresh", "Link is valid until 2026-12-04T03:04:05Z and is not due for refresh."),
	}
	if err := unstructured.SetNestedField(object.Object, object.GetGeneration(), "status", "observedGeneration"); err != nil {
		return err
	}
	unstructured.RemoveNestedField(object.Object, "status", "start")
	if err := unstructured.SetNestedMap(object.Object, value, "status", field); err != nil {
		return err
	}
	for _, fields := range more {
		for name, value := range fields {
			if err := unstructured.SetNestedField(object.Object, value, "status", name); err != nil {
				return err
			}
		}
	}
	if err := unstructured.SetNestedSlice(object.Object, conditions, "status", "conditions"); err != nil {
		return err
	}
	return r.Status().Patch(ctx, object, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{}))
}

func call(ctx context.Context, method, url, key string, body, answer any) error {
	text, err := json.Marshal(body)
	if err != nil {
		return err
	}
	request, err := http.NewRequestWithContext(ctx, method, url, bytes.NewReader(text))
	if err != nil {
		return err
	}
	request.Header.Set("Authorization", "Bearer "+key)
	request.Header.Set("Content-Type", "application/json")
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if response.StatusCode >= 300 {
		return fmt.Errorf("the export API answered %d", response.StatusCode)
	}
	return json.NewDecoder(response.Body).Decode(answer)
}

func probe(ctx context.Context, link string) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, link, nil)
	if err != nil {
		return err
	}
	request.Header.Set("Range", "bytes=0-0")
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if response.StatusCode >= 300 {
		return fmt.Errorf("the link answered %d", response.StatusCode)
	}
	return nil
}
