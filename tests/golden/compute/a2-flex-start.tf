resource "google_compute_region_instance_template" "run" {
  project              = "lab"
  region               = "us-central1"
  name                 = "w-train-1-0"
  description          = "windlass=true team=nlp windlass-claim=train-1-0 windlass-run=train windlass-expires=1760086400 windlass-claim-id=train-1-0 windlass-zone=us-central1-a"
  instance_description = "windlass run train, claim train-1-0"
  machine_type         = "a2-highgpu-1g"

  labels = {
    team             = "nlp"
    windlass         = "true"
    windlass-claim   = "train-1-0"
    windlass-run     = "train"
    windlass-expires = "1760086400"
  }

  metadata = {
    windlass-claim         = "train-1-0"
    windlass-nodes         = "2"
    enable-oslogin         = "TRUE"
    block-project-ssh-keys = "TRUE"

    startup-script = <<WINDLASS_TEXT
…
WINDLASS_TEXT
  }

  disk {
    boot         = true
    auto_delete  = true
    source_image = "projects/ubuntu-os-accelerator-images/global/images/family/ubuntu-accelerator-2404-amd64-with-nvidia-580"
    disk_size_gb = 100
    disk_type    = "pd-balanced"

    labels = {
      team             = "nlp"
      windlass         = "true"
      windlass-claim   = "train-1-0"
      windlass-run     = "train"
      windlass-expires = "1760086400"
    }
  }

  network_interface {
    network  = "global/networks/default"
    nic_type = "GVNIC"
  }

  scheduling {
    provisioning_model          = "FLEX_START"
    preemptible                 = false
    instance_termination_action = "DELETE"
    automatic_restart           = false
    on_host_maintenance         = "TERMINATE"

    max_run_duration {
      seconds = 86400
    }
  }

  service_account {
    scopes = ["https://www.googleapis.com/auth/cloud-platform"]
  }

  shielded_instance_config {
    enable_secure_boot          = false
    enable_vtpm                 = true
    enable_integrity_monitoring = true
  }

  reservation_affinity {
    type = "NO_RESERVATION"
  }
}

resource "google_compute_instance_group_manager" "run" {
  project            = "lab"
  zone               = "us-central1-a"
  name               = "w-train-1-0"
  description        = "windlass=true team=nlp windlass-claim=train-1-0 windlass-run=train windlass-expires=1760086400 windlass-claim-id=train-1-0 windlass-zone=us-central1-a"
  base_instance_name = "w-train-1-0"
  target_size        = 0

  version {
    instance_template = google_compute_region_instance_template.run.self_link
  }

  instance_lifecycle_policy {
    default_action_on_failure = "DO_NOTHING"
  }
}

resource "google_compute_resize_request" "run" {
  project                = "lab"
  zone                   = "us-central1-a"
  name                   = "w-train-1-0-all"
  description            = "windlass=true team=nlp windlass-claim=train-1-0 windlass-run=train windlass-expires=1760086400 windlass-claim-id=train-1-0 windlass-zone=us-central1-a"
  instance_group_manager = google_compute_instance_group_manager.run.name
  resize_by              = 2

  requested_run_duration {
    seconds = "86400"
  }
}
