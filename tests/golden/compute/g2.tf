resource "google_compute_instance" "run" {
  for_each     = toset(["w-train-1-0-0"])
  project      = "lab"
  zone         = "us-central1-a"
  name         = each.key
  machine_type = "g2-standard-8"
  description  = "windlass run train, claim train-1-0"

  labels = {
    team             = "nlp"
    windlass         = "true"
    windlass-claim   = "train-1-0"
    windlass-run     = "train"
    windlass-expires = "1760086400"
  }

  metadata = {
    windlass-claim         = "train-1-0"
    windlass-nodes         = "1"
    enable-oslogin         = "TRUE"
    block-project-ssh-keys = "TRUE"

    startup-script = <<WINDLASS_TEXT
…
WINDLASS_TEXT
  }

  boot_disk {
    auto_delete       = true
    kms_key_self_link = "projects/lab/locations/us-central1/keyRings/r/cryptoKeys/k"

    initialize_params {
      image = "projects/ubuntu-os-accelerator-images/global/images/family/ubuntu-accelerator-2404-amd64-with-nvidia-580"
      size  = 200
      type  = "pd-balanced"

      labels = {
        team             = "nlp"
        windlass         = "true"
        windlass-claim   = "train-1-0"
        windlass-run     = "train"
        windlass-expires = "1760086400"
      }
    }
  }

  scratch_disk {
    interface = "NVME"
  }

  network_interface {
    network    = "global/networks/research"
    subnetwork = "regions/us-central1/subnetworks/research-us"
    nic_type   = "GVNIC"
  }

  scheduling {
    provisioning_model          = "STANDARD"
    preemptible                 = false
    instance_termination_action = "DELETE"
    automatic_restart           = false
    on_host_maintenance         = "TERMINATE"

    max_run_duration {
      seconds = 86400
    }
  }

  service_account {
    email  = "runs@lab.iam.gserviceaccount.com"
    scopes = ["https://www.googleapis.com/auth/cloud-platform"]
  }

  shielded_instance_config {
    enable_secure_boot          = false
    enable_vtpm                 = true
    enable_integrity_monitoring = true
  }
}
